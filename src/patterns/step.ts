import type { Mutable } from '../base/mutable.ts';
import { canonicalJson } from '../base/canonical-json.ts';
import { hashText } from '../base/hash.ts';
import { isJsonObject, type Json } from '../base/json.ts';
import { TERMINAL_SEQUENCES } from '../base/shown-text.ts';
import { answerLines } from '../calls/answer-lines.ts';
import { FLAGGED_SEED, readAnswer, type AnswerReading } from '../calls/answer-reading.ts';
import { readArguments } from '../calls/argument-reading.ts';
import { progressOf } from '../calls/declared-keys.ts';
import { comparedKey } from '../calls/compared-key.ts';
import { openAnswer, withoutFooter } from '../calls/open-answer.ts';
import type { RawCall } from '../calls/raw-call.ts';
import { resultText } from '../calls/result-text.ts';
import { shellAnswer, type ShellAnswer } from '../calls/shell-answer.ts';
import { failureOf, flagged, type StepFailure } from '../calls/step-failure.ts';
import type { ToolKind } from '../calls/tool-kind.ts';
import type { CallSemantics, ToolDeclarations } from '../calls/tool-semantics.ts';

/** A call joined to its result, reduced to what detection needs: keys, kinds and small facts, never the content. */
export interface Step {
  /** 0-based index of the call in its run. */
  readonly index: number;
  /** Number of the turn that issued it. Calls of one turn were issued together. */
  readonly turn: number;
  /** Unix milliseconds when the result came; 0 where unknown. */
  readonly atMs: number;
  readonly tool: string;
  /** The tool, or for a shell call the program it runs. */
  readonly program: string;
  readonly kind: ToolKind;
  /** Neither progress nor repetition: a thought, a pause. Counts as if it were not there. */
  readonly transparent: boolean;
  /** Equal for calls of one tool with equal arguments, whatever the order of keys. */
  readonly argsKey: string;
  /** Equal for results that differ only in times and ids. */
  readonly resultKey: string;
  /** Equal for results that differ in digits and blanks only. */
  readonly shapeKey: number;
  /** Hashes of lines of the result without digits, 16 at most. */
  readonly lines: readonly number[];
  /** The first 6 numbers of the result, whole parts: they tell whether digits that move lead anywhere. */
  readonly numbers: readonly number[];
  /** For an action on a screen: equal where the line that says what was done, and the address, are equal. */
  readonly effectKey?: string;
  /** For a poll by a program: equal for answers whose last lines are. */
  readonly tailKey?: string;
  /** Tool, arguments and result together. */
  readonly callKey: string;
  /** Hashes of the words of the arguments, ascending, 64 at most, for similarity. */
  readonly tokens: readonly number[];
  /** Equal for calls of one tool that differ in nothing but numbers. */
  readonly frameKey: number;
  /** It asks about a thing by its name. */
  readonly names: boolean;
  /** It asks for a further page of something. */
  readonly pages: boolean;
  /** Set when the call failed: flagged, declared by a JSON answer, or told only by the words of its text (`soft`). */
  readonly failure?: StepFailure;
  /** The answer only says "done". */
  readonly acknowledged: boolean;
  /** For a write: the answer says that nothing was changed. */
  readonly unchanged: boolean;
  /** The answer says that the action came to nothing. */
  readonly ineffective: boolean;
  /** A very short answer, or a short one that says none, zero or no. */
  readonly negative: boolean;
  /** The answer holds nothing: no text, or an empty list. */
  readonly empty: boolean;
  readonly resultChars: number;
  /** What the call is about, where an argument names it. */
  readonly target?: string;
  /** For a write: a key of the state it leaves the target in. */
  readonly leavesKey?: string;
  /** For a write: the length of that state. */
  readonly leavesChars?: number;
  /** For a replacement: a key of the state it starts from. */
  readonly fromKey?: string;
  /** The source holds no result for it. */
  readonly resultMissing: boolean;
  /** A shell call that changes a file and then runs a program. */
  readonly editsAndRuns: boolean;
}

/** A result without what stands around it, before anything is known of the call. */
export interface ResultReading {
  readonly result: Json;
  /** What stood around the result says that the call failed. */
  readonly envelopeFailed: boolean;
  /** Where it is the output of a program with an exit code. */
  readonly printed: ShellAnswer | undefined;
  readonly answer: AnswerReading;
}

/** Unwraps and reads a result. Cost: as `makeStep`, of which it is the greater part. */
export function unwrapResult(given: Json): ResultReading {
  const bare = cleaned(given);
  const opened = openAnswer(bare);
  const result = opened.result === bare ? bare : cleaned(opened.result);
  const printed = shellAnswer(result);
  const answer = readAnswer(printed === undefined ? shownText(result) : withoutColours(printed.text));
  return { result, envelopeFailed: opened.failed, printed, answer };
}

/**
 * Makes the step of a call.
 *
 * Cost: a few linear passes over arguments and result; short results are remembered for a while (`readAnswer`).
 */
export function makeStep(given: RawCall, declarations: ToolDeclarations): Step {
  const { result, envelopeFailed, printed, answer } = unwrapResult(given.result);
  const { tool, annotations } = given;
  const declaration = Object.hasOwn(declarations, tool) ? declarations[tool] : undefined;
  const known = annotations === undefined ? declarations : { [tool]: { annotations, ...declaration } };
  const asked = readArguments(tool, given.args, known);
  const { semantics } = asked;
  const call = flagged(envelopeFailed ? { ...given, isError: true } : given, printed, semantics);
  const { text } = answer;
  const resultMissing = call.resultMissing || answer.wasNotRun;
  // `gh pr checks` exits with a failure while it says that checks are pending.
  const waits = semantics.kind === 'poll' && answer.isPending;
  const foretold = isForetold(call.args, text);
  const failure =
    waits || foretold || resultMissing
      ? undefined
      : failureOf(call, answer, { semantics, endedWell: printed?.exitCode === 0 && semantics.piped !== true });
  const ineffective = failure === undefined && answer.isIneffective;
  const acted =
    (semantics.kind === 'ui' || semantics.kind === 'unknown') &&
    text.length <= ACTED_CHARS &&
    answer.actsOnScreen &&
    !answer.isUnchanged;
  const findsNothing = showsNothing(answer, semantics.kind);
  const acknowledged =
    failure === undefined && !ineffective && !findsNothing && (acted || foretold || answer.acknowledges);
  const kind = kindOf(call, answer, { semantics, failed: failure !== undefined, acted });
  // A tool that takes a lone text and merely acknowledges it keeps a remark, any other of its kind changes something.
  const said = kind === 'unknown' && acknowledged && !foretold && text.trim() !== '';
  const finalKind = said ? (semantics.remark === true ? 'note' : 'write') : kind;
  const progress = progressOf(result, declaration);
  const resultKey =
    progress === undefined
      ? comparedKey(call, answer, { semantics, kind: finalKind, failed: failure !== undefined, acknowledged })
      : hashText(canonicalJson(progress), call.isError ? FLAGGED_SEED : 0);
  const { shapeKey, lines, numbers } = answerLines(answer.masked);
  const step: Mutable<Step> = {
    index: call.index,
    turn: call.turn,
    atMs: call.atMs,
    tool: call.tool,
    program: semantics.program,
    kind: finalKind,
    transparent: finalKind === 'note' || finalKind === 'wait',
    argsKey: asked.argsKey,
    resultKey,
    shapeKey,
    lines,
    numbers,
    callKey: hashText(asked.argsKey + resultKey),
    tokens: asked.tokens,
    frameKey: asked.frameKey,
    names: semantics.names === true,
    pages: semantics.pages === true,
    acknowledged,
    unchanged: finalKind === 'write' && (ineffective || answer.isUnchanged),
    ineffective,
    negative: answer.saysNone,
    empty: answer.isEmpty,
    resultChars: text.length,
    resultMissing,
    editsAndRuns: semantics.editsAndRuns === true,
  };
  if (finalKind === 'poll' && semantics.shell) step.tailKey = hashText(lastLineOf(answer.masked));
  if (finalKind === 'ui' && !acknowledged) step.effectKey = effectKeyOf(answer);
  if (failure !== undefined) step.failure = failure;
  if (semantics.target !== undefined) step.target = semantics.target;
  if (asked.leavesKey !== undefined) step.leavesKey = asked.leavesKey;
  if (semantics.content !== undefined) step.leavesChars = semantics.content.length;
  if (asked.fromKey !== undefined) step.fromKey = asked.fromKey;
  return step;
}

/** The same call with a failure of which no line tells: it counts as one that says nothing. */
export function withoutCause(step: Step): Step {
  return step.failure === undefined ? step : { ...step, failure: { ...step.failure, category: 'silent' } };
}

const ADDRESS = /^\W*(?:page |current )*url\b\W{0,3}(\S+)/im;

/** What an action did, and where it led; what else the screen shows may change by itself. Empty where neither is said. */
function effectKeyOf({ masked, actsOnScreen }: AnswerReading): string {
  const [first = ''] = masked.split('\n', 1);
  const address = ADDRESS.exec(masked)?.[1] ?? '';
  return actsOnScreen || address !== '' ? `${actsOnScreen ? hashText(first) : ''} ${address}` : '';
}

function lastLineOf(text: string): string {
  const trimmed = text.trimEnd();
  return trimmed.slice(trimmed.lastIndexOf('\n') + 1).trim();
}

/** A text without colours and moves of a terminal, which say nothing, and without what a harness adds to its end. */
function cleaned(result: Json): Json {
  return typeof result === 'string' ? withoutFooter(withoutColours(result)) : result;
}

/** The text of a cleaned result; what stands within a value still has its colours. */
function shownText(result: Json): string {
  return typeof result === 'string' ? result : withoutColours(resultText(result));
}

function withoutColours(text: string): string {
  return text.includes(ESCAPE) ? text.replaceAll(TERMINAL_SEQUENCES, '') : text;
}

const ESCAPE = '\u001b';

/** What the call was, also by what came of it. */
function kindOf(
  call: RawCall,
  answer: AnswerReading,
  {
    semantics,
    failed,
    acted,
  }: { readonly semantics: CallSemantics; readonly failed: boolean; readonly acted: boolean },
): ToolKind {
  const { kind, shell, program } = semantics;
  // A pause that ends with a view of the screen is a look at it.
  if (kind === 'wait' && !failed && answer.text.length >= SHOWN_CHARS) return 'poll';
  // Only such a call can be a poll by its answer.
  const asks = !failed && kind !== 'write' && (!shell || REMOTE_PROGRAMS.has(program));
  if (asks && (answer.isPending || asksForNews(call.args, answer))) return 'poll';
  if (acted || (kind === 'unknown' && answer.actsOnScreen)) return 'ui';
  // Who is told of a failure has nothing to wait for.
  return kind === 'poll' && !answer.isPending && answer.tellsAnywhere ? 'read' : kind;
}

/** Longest answer of a screen that repeats the action and shows nothing of what came of it. */
const ACTED_CHARS = 80;
/** Longer than what is said of a pause: `Waited for 5 seconds`. */
const SHOWN_CHARS = 120;

/** Programs that ask another machine. What a local one prints may hold any word. */
const REMOTE_PROGRAMS = new Set(
  'curl wget http https ssh adb aws gcloud az gh glab kubectl oc docker podman helm flyctl heroku vercel nomad doctl argocd'.split(
    ' ',
  ),
);

/** Whether a question was answered with nothing, which acknowledges no change. */
function showsNothing({ text, isEmpty }: AnswerReading, kind: ToolKind): boolean {
  const isNone = isEmpty && text.trim() !== '';
  if (kind === 'read') return isNone || NOTHING.test(text);
  return kind === 'unknown' && isNone && !COMPLAINTS.test(text);
}

/** An empty list under such a name says that all went well. */
const COMPLAINTS = /error|warning|fail|problem|conflict/i;
/** What a look gives that finds nothing. */
const NOTHING = /^\s*(?:null|none|nil|undefined)\s*$/i;

const SINCE: ReadonlySet<string> = new Set(['since', 'newer_than', 'newerThan', 'updated_since', 'after_time']);

/** Whether the call asks what has come since a time, and nothing has: an inbox in which something is waited for. */
function asksForNews(args: Json, answer: AnswerReading): boolean {
  if (!isJsonObject(args)) return false;
  for (const name in args) if (SINCE.has(name) && args[name] !== undefined) return answer.saysNone;
  return false;
}

const FORETELLING: ReadonlySet<string> = new Set(
  'expect expected expect_status expected_status expectStatus expectedStatus'.split(' '),
);
const FORETOLD_CHARS = 400;

/** Whether the call said beforehand what the answer says: a test that expects a refusal has not failed when it gets one. */
function isForetold(args: Json, text: string): boolean {
  if (!isJsonObject(args)) return false;
  // Most calls have fewer arguments than there are such names.
  for (const name in args) {
    if (!FORETELLING.has(name)) continue;
    const told = args[name];
    if (typeof told !== 'number' && typeof told !== 'string') continue;
    const words = String(told);
    if (words.length > 1 && text.slice(0, FORETOLD_CHARS).includes(words)) return true;
  }
  return false;
}
