import { canonicalJson } from '../../base/canonical-json.ts';
import { hashText } from '../../base/hash.ts';
import { type Json, present, isJsonObject } from '../../base/json.ts';
import { withoutTerminalSequences } from '../../base/printable.ts';
import { gistOf, hitsOf, answerLines } from '../calls/answer-gist.ts';
import { FLAGGED_SEED, readAnswer, type AnswerReading, resultText } from '../calls/answer-reading.ts';
import { answerMatches } from '../calls/answer-rules.ts';
import { type ArgumentKeys, readArguments } from '../calls/argument-reading.ts';
import { progressOf } from '../calls/declared-keys.ts';
import { withoutNotes } from '../calls/host-notes.ts';
import { openAnswer, withoutReminders, printedText, shellAnswer, type ShellAnswer } from '../calls/shell-answer.ts';
import type { CallOutcome } from '../../records/trajectory-record.ts';
import { tokensOf } from '../calls/tokens.ts';
import type { ToolKind } from '../calls/tool-kind.ts';
import {
  type CallSemantics,
  type ToolAnnotations,
  type ToolDeclarations,
  isAnswerCode,
} from '../calls/tool-semantics.ts';
import { classifyError, groupKeyOf, type ErrorClass } from '../calls/error-class.ts';

export interface RawCall extends Pick<Step, 'index' | 'turn' | 'atMs' | 'tool' | 'resultMissing'> {
  readonly args: Json;
  /** Annotations of the tool from its MCP server. A declaration takes precedence. */
  readonly annotations?: ToolAnnotations | undefined;
  readonly result: Json;
  readonly isError: boolean;
  /** Default: from `isError`. */
  readonly outcome?: CallOutcome | undefined;
}

/** A call and its result, reduced to the keys, kinds and properties that detectors need. Contains no content. */
export interface Step extends ArgumentKeys {
  /** Index of the call in its run, from 0. */
  readonly index: number;
  /** Number of the turn that issued the call. The calls of a turn were issued together. */
  readonly turn: number;
  /** Time of the result in Unix milliseconds; 0 if unknown. */
  readonly atMs: number;
  readonly tool: string;
  /** The tool name. For a shell call, the program that the command runs. */
  readonly program: string;
  readonly kind: ToolKind;
  /** True for a thought or a pause, which is neither progress nor repetition. */
  readonly transparent: boolean;
  /** Equal for results that differ only in times and ids. */
  readonly resultKey: string;
  /** Equal for results that differ only in digits and blanks. */
  readonly shapeKey: number;
  /** Hashes of result lines without digits, at most 16. */
  readonly lines: readonly number[];
  /** Key of the tool, the arguments and the result together. */
  readonly callKey: string;
  /** Present if the call failed: flagged, declared by a JSON result, or only reported in the text (`soft`). */
  readonly failure?: StepFailure;
  /** `refused` calls also have a `failure`, so that a row of refusals is found. */
  readonly outcome: CallOutcome;
  /** True if the result only confirms the call, for example "done". */
  readonly acknowledged: boolean;
  /** For a write: true if the result says that nothing changed. */
  readonly unchanged: boolean;
  /** True if a short result says "none", "zero" or "no". */
  readonly negative: boolean;
  /** True if the result is an empty text, an empty list or an empty object. */
  readonly empty: boolean;
  /** Length of the result text in UTF-16 code units. */
  readonly resultChars: number;
  /** Equal for short results that say the same about other things. See `gistOf`. */
  readonly gistKey?: number;
  /** For a search: hashes of the addresses and ids in the result, in ascending order. */
  readonly hits?: readonly number[];
  /** For a call that hands over a job in a sentence: hashes of the words in a long result, in ascending order, at most 64. */
  readonly outcomeWords?: readonly number[];
  /** The file or page that the call reads or changes. */
  readonly target?: string;
  /** True if the source contains no result for this call. */
  readonly resultMissing: boolean;
  /** True for a shell call that changes a file and then runs a program. */
  readonly editsAndRuns: boolean;
}

export interface ResultReading {
  readonly result: Json;
  readonly envelopeFailed: boolean;
  readonly printed: ShellAnswer | undefined;
  readonly answer: AnswerReading;
}

export function unwrapResult(rawResult: Json): ResultReading {
  const cleanedResult = cleanResult(rawResult);
  const openedAnswer = openAnswer(cleanedResult);
  const result = openedAnswer.result === cleanedResult ? cleanedResult : cleanResult(openedAnswer.result);
  const printed = shellAnswer(result);
  const answer = readAnswer(withoutNotes(printedText(withoutTerminalSequences(printed?.text ?? resultText(result)))));
  return { result, envelopeFailed: openedAnswer.failed, printed, answer };
}

/** Cost: a few linear passes over arguments and result. Readings of recent short results are cached (`readAnswer`). */
export function makeStep(rawCall: RawCall, declarations: ToolDeclarations): Step {
  const { result, envelopeFailed, printed, answer } = unwrapResult(rawCall.result);
  const { tool, annotations } = rawCall;
  const declaration = Object.hasOwn(declarations, tool) ? declarations[tool] : undefined;
  const tools = annotations === undefined ? declarations : { [tool]: { annotations, ...declaration } };
  const { semantics, asks, delegates, ...keys } = readArguments(tool, rawCall.args, tools);
  const call = withExitFlag(envelopeFailed ? { ...rawCall, isError: true } : rawCall, printed, answer);
  const resultMissing = call.resultMissing || rawCall.outcome === 'cancelled';
  // `gh pr checks` exits with an error code while checks are pending.
  const isWaiting = semantics.kind === 'poll' && answer.isPending;
  const hasZeroExit = printed?.exitCode === 0 && semantics.piped !== true;
  const failure = isWaiting || resultMissing ? undefined : failureOf(call, answer, { semantics, hasZeroExit });
  const acknowledged = failure === undefined && answer.acknowledges;
  const kind = correctKind(semantics, answer, { failed: failure !== undefined, acknowledged });
  const progress = progressOf(result, declaration);
  const resultKey =
    progress === undefined
      ? answer.keyOf(call.isError)
      : hashText(canonicalJson(progress), call.isError ? FLAGGED_SEED : 0);
  const { shapeKey, lines } = answerLines(answer.masked);
  const isReport = answer.text.length >= REPORT_CHARS && !GOES_ON.test(answer.text.slice(0, REPORT_CHARS));
  const mayReport = failure === undefined && !semantics.shell && kind !== 'write' && isReport;
  const mayRefuse = !acknowledged && kind !== 'write' && kind !== 'ui' && lines.length <= REFUSAL_LINES;
  return {
    index: call.index,
    turn: call.turn,
    atMs: call.atMs,
    tool: call.tool,
    program: semantics.program,
    kind,
    transparent: kind === 'note' || kind === 'wait',
    ...keys,
    resultKey,
    shapeKey,
    lines,
    callKey: hashText(keys.argsKey + resultKey),
    acknowledged,
    unchanged: kind === 'write' && answer.isUnchanged,
    negative: answerMatches('none', answer.text),
    empty: answer.isEmpty,
    resultChars: answer.text.length,
    resultMissing,
    editsAndRuns: semantics.editsAndRuns === true,
    outcome: rawCall.outcome ?? (failure === undefined ? 'ok' : 'failed'),
    ...present({
      failure,
      gistKey: mayRefuse ? gistOf(answer.text, tool, keys.tokens) : undefined,
      outcomeWords: mayReport && delegates ? tokensOf(answer.text.replaceAll(/\d+/g, ' ')).tokens : undefined,
      hits: asks && failure === undefined ? hitsOf(answer.text) : undefined,
      target: semantics.target,
    }),
  };
}

/** A refusal has few lines. */
const REFUSAL_LINES = 4;
/** A shorter result reports too little to be compared by its words. */
const REPORT_CHARS = 300;
/** The receipt for a job that was begun, as that of Claude Code's agents. */
const GOES_ON = /\bin the background\b/i;

export function withoutCause(step: Step): Step {
  return step.failure === undefined ? step : { ...step, failure: { ...step.failure, category: 'silent' } };
}

function cleanResult(result: Json): Json {
  return typeof result === 'string' ? withoutReminders(withoutTerminalSequences(result)) : result;
}

/** Programs that contact another machine. The output of a local program may contain any word. */
const REMOTE_PROGRAMS = new Set(['curl', 'wget', 'ssh', 'gh', 'glab', 'kubectl', 'docker', 'podman', 'helm']);
/** If the result of a pause is longer than this many characters, it contains information. */
const PAUSE_CHARS = 120;

function correctKind(
  { kind, shell, program }: CallSemantics,
  answer: AnswerReading,
  { failed, acknowledged }: { readonly failed: boolean; readonly acknowledged: boolean },
): ToolKind {
  if (kind === 'wait' && !failed && answer.text.length >= PAUSE_CHARS) return 'poll';
  const isQuestion = !failed && kind !== 'write' && (!shell || REMOTE_PROGRAMS.has(program));
  if (isQuestion && answer.isPending) return 'poll';
  // A failed operation is finished, so the agent is not polling.
  if (kind === 'poll' && !answer.isPending && answer.reportsFailureAnywhere) return 'read';
  return kind === 'unknown' && acknowledged && answer.text.trim() !== '' ? 'write' : kind;
}

/** A classified failure. `soft` is true if only the words of the result report the failure. */
export type StepFailure = ErrorClass & { readonly soft: boolean };

function withExitFlag(call: RawCall, printed: ShellAnswer | undefined, answer: AnswerReading): RawCall {
  if (printed === undefined || printed.exitCode === 0) return call;
  const isAnswer = isAnswerCode(call.tool, call.args, printed.exitCode) && !answer.refuses;
  return call.isError === isAnswer ? { ...call, isError: !isAnswer } : call;
}

/** @param endedWell  the exit code was 0, so the words of the result do not show whether the call failed */
function failureOf(
  call: RawCall,
  answer: AnswerReading,
  { semantics, hasZeroExit }: { readonly semantics: CallSemantics; readonly hasZeroExit: boolean },
): StepFailure | undefined {
  if (!call.isError && (hasZeroExit || (!answer.refuses && !reportsOwnFailure(answer, semantics)))) return undefined;
  const { args } = call;
  const failure = isJsonObject(args) ? withoutQuotation(withoutEchoes(answer, args), args) : answer.failure;
  return { ...failure, soft: !call.isError && !answer.declaresFailure };
}

/** Arguments with fewer characters may appear in a result by chance. */
const MIN_ECHO_CHARS = 12;
/** Results with more characters are compared including the repeated arguments. */
const MAX_ECHOING_CHARS = 8_000;

function withoutEchoes({ text, failure }: AnswerReading, args: Readonly<Record<string, unknown>>): ErrorClass {
  if (text.length > MAX_ECHOING_CHARS) return failure;
  let remainder = text;
  for (const value of Object.values(args)) {
    const echo = typeof value === 'string' ? value.trim() : '';
    if (echo.length >= MIN_ECHO_CHARS && remainder.includes(echo)) remainder = remainder.replaceAll(echo, '@');
  }
  return remainder === text ? failure : { ...failure, messageKey: classifyError(remainder).messageKey };
}

const MIN_QUOTED_CHARS = 3;
const WORD = /\p{L}{2,}/gu;
/** If the text before a quoted argument has fewer words, such as only the name of an error, it does not name a cause. */
const MIN_CAUSE_WORDS = 3;

/** If the error line quotes an argument of the call, groups the failure by the text before the quotation. */
function withoutQuotation(failure: ErrorClass, args: Readonly<Record<string, unknown>>): ErrorClass {
  const quoteIndexes = Object.values(args).flatMap((value) => {
    if (typeof value !== 'string') return [];
    const [firstLine = ''] = value.trimStart().split('\n', 1);
    return firstLine.length < MIN_QUOTED_CHARS ? [] : failure.line.indexOf(firstLine);
  });
  const quoteIndex = Math.min(...quoteIndexes.filter((index) => index > 0));
  const cause = failure.line.slice(0, quoteIndex);
  if (quoteIndex === Infinity || (cause.match(WORD)?.length ?? 0) < MIN_CAUSE_WORDS) return failure;
  return { ...failure, groupKey: groupKeyOf(failure.category, `${cause}@`) };
}

/** Returns true if a program reports its own failure. Excludes calls that display a file, because a file may contain any error. */
function reportsOwnFailure(answer: AnswerReading, { kind, shell }: CallSemantics): boolean {
  return (kind === 'execute' || (kind === 'write' && shell)) && answer.reportsFailureAnywhere;
}
