import { canonicalJson } from '../base/canonical-json.ts';
import { hashText } from '../base/hash.ts';
import type { Json } from '../base/json.ts';
import { present } from '../base/present.ts';
import { TERMINAL_SEQUENCES } from '../base/shown-text.ts';
import { answerLines } from '../calls/answer-lines.ts';
import { FLAGGED_SEED, readAnswer, type AnswerReading } from '../calls/answer-reading.ts';
import { readArguments } from '../calls/argument-reading.ts';
import { progressOf } from '../calls/declared-keys.ts';
import { openAnswer, withoutReminders } from '../calls/open-answer.ts';
import type { RawCall } from '../calls/raw-call.ts';
import { resultText } from '../calls/result-text.ts';
import { shellAnswer, type ShellAnswer } from '../calls/shell-answer.ts';
import { failureOf, flagged, type StepFailure } from '../calls/step-failure.ts';
import type { ToolKind } from '../calls/tool-kind.ts';
import type { CallSemantics, ToolDeclarations } from '../calls/tool-semantics.ts';

/** A call with its result, reduced to what detection needs: keys, kinds and small facts, no content. */
export interface Step {
  /** 0-based index of the call in its run. */
  readonly index: number;
  /** Number of the turn that issued it; calls of one turn were issued together. */
  readonly turn: number;
  /** When the result arrived, Unix milliseconds; 0 if unknown. */
  readonly atMs: number;
  readonly tool: string;
  /** The tool, or for a shell call the program it runs. */
  readonly program: string;
  readonly kind: ToolKind;
  /** A thought or a pause: neither progress nor repetition. */
  readonly transparent: boolean;
  /** Equal for calls of one tool with equal arguments, in any order of keys. */
  readonly argsKey: string;
  /** Equal for results that differ only in times and ids. */
  readonly resultKey: string;
  /** Equal for results that differ only in digits and blanks. */
  readonly shapeKey: number;
  /** Hashes of lines of the result without digits, at most 16. */
  readonly lines: readonly number[];
  /** Tool, arguments and result together. */
  readonly callKey: string;
  /** Hashes of the words of the arguments, ascending, at most 64; see `similarity`. */
  readonly tokens: readonly number[];
  /** Equal for calls of one tool that differ only in numbers. */
  readonly frameKey: number;
  /** Set if the call failed: flagged, declared by a JSON answer, or reported only by the words of its answer (`soft`). */
  readonly failure?: StepFailure;
  /** The answer only says "done". */
  readonly acknowledged: boolean;
  /** For a write: the answer says that nothing changed. */
  readonly unchanged: boolean;
  /** A very short answer, or a short one that says none, zero or no. */
  readonly negative: boolean;
  /** No text, an empty list or an empty object. */
  readonly empty: boolean;
  readonly resultChars: number;
  /** The file or page that the call is about. */
  readonly target?: string;
  /** For a write: a key of the state in which it leaves the target. */
  readonly leavesKey?: string;
  /** For a replacement: a key of the state that it starts from. */
  readonly fromKey?: string;
  /** The source holds no result. */
  readonly resultMissing: boolean;
  /** A shell call that changes a file and then runs a program. */
  readonly editsAndRuns: boolean;
}

/** A result without its wrapping. */
export interface ResultReading {
  readonly result: Json;
  /** The wrapping says that the call failed. */
  readonly envelopeFailed: boolean;
  /** The output of a program with an exit code. */
  readonly printed: ShellAnswer | undefined;
  readonly answer: AnswerReading;
}

/** Unwraps and reads a result. Cost: most of that of `makeStep`. */
export function unwrapResult(rawResult: Json): ResultReading {
  const bare = cleaned(rawResult);
  const opened = openAnswer(bare);
  const result = opened.result === bare ? bare : cleaned(opened.result);
  const printed = shellAnswer(result);
  const answer = readAnswer(withoutColours(printed?.text ?? resultText(result)));
  return { result, envelopeFailed: opened.failed, printed, answer };
}

/**
 * Makes the step of a call.
 *
 * Cost: a few linear passes over arguments and result; recent short results are remembered (`readAnswer`).
 */
export function makeStep(rawCall: RawCall, declarations: ToolDeclarations): Step {
  const { result, envelopeFailed, printed, answer } = unwrapResult(rawCall.result);
  const { tool, annotations } = rawCall;
  const declaration = Object.hasOwn(declarations, tool) ? declarations[tool] : undefined;
  const known = annotations === undefined ? declarations : { [tool]: { annotations, ...declaration } };
  const { semantics, argsKey, tokens, frameKey, leavesKey, fromKey } = readArguments(tool, rawCall.args, known);
  const call = flagged(envelopeFailed ? { ...rawCall, isError: true } : rawCall, printed, semantics);
  const resultMissing = call.resultMissing || answer.wasNotRun;
  // `gh pr checks` exits with a failure while checks are pending.
  const waits = semantics.kind === 'poll' && answer.isPending;
  const endedWell = printed?.exitCode === 0 && semantics.piped !== true;
  const failure = waits || resultMissing ? undefined : failureOf(call, answer, { semantics, endedWell });
  const isEmptyFinding = answer.isEmpty && answer.text.trim() !== '' && semantics.kind !== 'write';
  const acknowledged = failure === undefined && !isEmptyFinding && answer.acknowledges;
  const kind = kindOf(semantics, answer, { failed: failure !== undefined, acknowledged });
  const progress = progressOf(result, declaration);
  const resultKey =
    progress === undefined
      ? answer.keyOf(call.isError)
      : hashText(canonicalJson(progress), call.isError ? FLAGGED_SEED : 0);
  const { shapeKey, lines } = answerLines(answer.masked);
  return {
    index: call.index,
    turn: call.turn,
    atMs: call.atMs,
    tool: call.tool,
    program: semantics.program,
    kind,
    transparent: kind === 'note' || kind === 'wait',
    argsKey,
    resultKey,
    shapeKey,
    lines,
    callKey: hashText(argsKey + resultKey),
    tokens,
    frameKey,
    acknowledged,
    unchanged: kind === 'write' && answer.isUnchanged,
    negative: answer.saysNone,
    empty: answer.isEmpty,
    resultChars: answer.text.length,
    resultMissing,
    editsAndRuns: semantics.editsAndRuns === true,
    ...present({ failure, target: semantics.target, leavesKey, fromKey }),
  };
}

/** The same call with a failure that names no cause. */
export function withoutCause(step: Step): Step {
  return step.failure === undefined ? step : { ...step, failure: { ...step.failure, category: 'silent' } };
}

function cleaned(result: Json): Json {
  return typeof result === 'string' ? withoutReminders(withoutColours(result)) : result;
}

function withoutColours(text: string): string {
  return text.includes(ESCAPE) ? text.replaceAll(TERMINAL_SEQUENCES, '') : text;
}

const ESCAPE = '\u001b';

/** Programs that ask another machine. The output of a local one may hold any word. */
const REMOTE_PROGRAMS = new Set(['curl', 'wget', 'ssh', 'gh', 'glab', 'kubectl', 'docker', 'podman', 'helm']);
/** A longer answer to a pause shows something. */
const PAUSE_CHARS = 120;

/** The kind of the call, corrected by its answer. */
function kindOf(
  { kind, shell, program }: CallSemantics,
  answer: AnswerReading,
  { failed, acknowledged }: { readonly failed: boolean; readonly acknowledged: boolean },
): ToolKind {
  if (kind === 'wait' && !failed && answer.text.length >= PAUSE_CHARS) return 'poll';
  const asks = !failed && kind !== 'write' && (!shell || REMOTE_PROGRAMS.has(program));
  if (asks && answer.isPending) return 'poll';
  // After a failure there is nothing to wait for.
  if (kind === 'poll' && !answer.isPending && answer.reportsFailureAnywhere) return 'read';
  return kind === 'unknown' && acknowledged && answer.text.trim() !== '' ? 'write' : kind;
}
