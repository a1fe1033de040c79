import type { Mutable } from '../base/mutable.ts';
import { canonicalJson } from '../base/canonical-json.ts';
import { hashText } from '../base/hash.ts';
import { isJsonObject, type Json } from '../base/json.ts';
import { TERMINAL_SEQUENCES } from '../base/shown-text.ts';
import { FLAGGED_SEED, readAnswer, type AnswerReading } from './answer-reading.ts';
import { readArguments } from './argument-reading.ts';
import { progressOf } from './declared-keys.ts';
import { classifyError, groupKeyOf, type ErrorClass } from './error-class.ts';
import { beginsWithAct, isAcknowledgement, isEmpty, isReceipt, resultText, saysActed } from './result-text.ts';
import { shellAnswer, type ShellAnswer } from './shell-answer.ts';
import type { ToolKind } from './tool-kind.ts';
import type { CallSemantics, ToolDeclarations } from './tool-semantics.ts';

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
  /** Tool, arguments and result together. */
  readonly callKey: string;
  /** Hashes of the words of the arguments, ascending, 64 at most, for similarity. */
  readonly tokens: readonly number[];
  /** Tells apart calls with equal words that ask for another amount: `LIMIT 10`, `LIMIT 50`. Empty where no amount is named. */
  readonly amountKey: string;
  /** Equal for calls of one tool that differ in nothing but numbers. */
  readonly frameKey: number;
  /** It asks about a thing by its name. */
  readonly names: boolean;
  /** It asks for a further page of something. */
  readonly pages: boolean;
  /** Set when the call failed: flagged, declared by a JSON answer, or told only by the words of its text (`soft`). */
  readonly failure?: ErrorClass & { readonly soft: boolean };
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

/** A call and its result as they stand in the records. */
export interface RawCall {
  readonly index: number;
  readonly turn: number;
  readonly atMs: number;
  readonly tool: string;
  readonly args: Json;
  readonly result: Json;
  readonly isError: boolean;
  readonly resultMissing: boolean;
}

/**
 * Makes the step of a call.
 *
 * Cost: a few linear passes over arguments and result; short results are remembered for a while (`readAnswer`).
 */
export function makeStep(given: RawCall, declarations: ToolDeclarations): Step {
  const printed = shellAnswer(given.result);
  const declaration = Object.hasOwn(declarations, given.tool) ? declarations[given.tool] : undefined;
  const asked = readArguments(given.tool, given.args, declarations);
  const { semantics } = asked;
  const call = flagged(given, printed, semantics);
  const answer = readAnswer(withoutColours(printed?.text ?? resultText(call.result)));
  const { text } = answer;
  // `gh pr checks` exits with a failure while it says that checks are pending.
  const waits = semantics.kind === 'poll' && answer.isPending;
  const foretold = isForetold(call.args, text);
  const failure = waits || foretold ? undefined : failureOf(call, answer, semantics);
  const ineffective = failure === undefined && answer.isIneffective;
  const acted = (semantics.kind === 'ui' || semantics.kind === 'unknown') && saysActed(text);
  const findsNothing = semantics.kind === 'read' && NOTHING.test(text);
  const acknowledged =
    failure === undefined && !ineffective && !findsNothing && (acted || foretold || answer.acknowledges);
  const kind = kindOf(call, answer, { semantics, failed: failure !== undefined, acted });
  // A tool that takes a lone text and merely acknowledges it keeps a remark, any other of its kind changes something.
  const said = kind === 'unknown' && acknowledged && !foretold && text.trim() !== '';
  const finalKind = said ? (semantics.remark === true ? 'note' : 'write') : kind;
  const progress = progressOf(call.result, declaration);
  const resultKey =
    progress === undefined
      ? comparedKey(call, answer, { semantics, kind: finalKind, failed: failure !== undefined, acknowledged })
      : hashText(canonicalJson(progress), call.isError ? FLAGGED_SEED : 0);
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
    callKey: hashText(asked.argsKey + resultKey),
    tokens: asked.tokens,
    amountKey: asked.amountKey,
    frameKey: asked.frameKey,
    names: semantics.names === true,
    pages: semantics.pages === true,
    acknowledged,
    unchanged: finalKind === 'write' && (ineffective || answer.isUnchanged),
    ineffective,
    negative: answer.saysNone,
    empty: isEmpty(text),
    resultChars: text.length,
    resultMissing: call.resultMissing,
    editsAndRuns: semantics.editsAndRuns === true,
  };
  if (failure !== undefined) step.failure = failure;
  if (semantics.target !== undefined) step.target = semantics.target;
  if (asked.leavesKey !== undefined) step.leavesKey = asked.leavesKey;
  if (semantics.content !== undefined) step.leavesChars = semantics.content.length;
  if (asked.fromKey !== undefined) step.fromKey = asked.fromKey;
  return step;
}

/** Whether the call failed, as far as a flag says or an exit code, which is a flag only in another place. */
function flagged(call: RawCall, printed: ShellAnswer | undefined, { kind, shell }: CallSemantics): RawCall {
  if (printed === undefined || printed.exitCode === 0) return call;
  // `grep` has met nothing, `diff` a difference, `test` says no: an answer.
  const saysNo = printed.exitCode === 1 && kind === 'read' && shell && printed.text.trim() === '';
  return call.isError === saysNo ? { ...call, isError: !saysNo } : call;
}

/** Colours and moves of a terminal say nothing. */
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
  // Only such a call can be a poll by its answer.
  const asks = !failed && kind !== 'write' && (!shell || REMOTE_PROGRAMS.has(program));
  if (asks && (answer.isPending || asksForNews(call.args, answer))) return 'poll';
  if (acted || (kind === 'unknown' && beginsWithAct(answer.text))) return 'ui';
  // Who is told of a failure has nothing to wait for.
  return kind === 'poll' && !answer.isPending && answer.tellsAnywhere ? 'read' : kind;
}

interface Outcome {
  readonly semantics: CallSemantics;
  readonly kind: ToolKind;
  readonly failed: boolean;
  readonly acknowledged: boolean;
}

/** The key under which the answer is compared with others. */
function comparedKey(call: RawCall, answer: AnswerReading, outcome: Outcome): string {
  const { semantics, kind, failed, acknowledged } = outcome;
  const seed = call.isError ? FLAGGED_SEED : 0;
  // The same was set going, or sent, once more: under whatever name it goes this time.
  if (!failed && kind !== 'ui' && isReceipt(answer.text) && saysWhat(call.args)) {
    return hashText(answer.masked.replace(RECEIPT_ID, '#'), seed);
  }
  // What is stored under a receipt's numbers (a revision, a count of bytes) is the same when it is stored again.
  const stored = kind === 'write' && !semantics.shell && semantics.content !== undefined;
  if (stored && !failed && isAcknowledgement(answer.masked)) {
    return hashText(answer.masked.replace(RECEIPT_NUMBER, '#'), seed);
  }
  if (kind === 'write' && !semantics.shell) return answer.writtenKey(call.isError);
  if (kind === 'ui' && !acknowledged) return hashText(withoutEcho(answer.masked, call.args), seed);
  return answer.keyOf(call.isError);
}

/** A number of its own; one that belongs to a name (`room-1`) tells what was met. */
const RECEIPT_NUMBER = /(?<![\w-])\d+(?:\.\d+)?(?![\w-])/g;

/** What was just begun or sent is named by many digits, or by digits and letters mixed; a place in a row (`S-014`) is neither. */
const RECEIPT_ID = /(?<![\w-])(?=[\w-]*(?:\d{4}|\d[a-z]))[\w-]{4,}(?![\w-])/gi;
const MIN_ORDER_CHARS = 8;

/** Whether the arguments name what is to be begun or sent; where they do not, it may be another thing each time. */
function saysWhat(args: Json): boolean {
  if (!isJsonObject(args)) return typeof args === 'string' && args.length >= MIN_ORDER_CHARS;
  return Object.values(args).some((value) => typeof value === 'string' && value.length >= MIN_ORDER_CHARS);
}

const ECHO_CHARS = 200;

/** What a screen shows, without the order that its first line repeats: `Clicked element e3`. */
function withoutEcho(text: string, args: Json): string {
  const end = text.indexOf('\n');
  const shown = end > 0 && beginsWithAct(text) ? text.slice(end) : text;
  if (!isJsonObject(args)) return shown;
  let head = shown.slice(0, ECHO_CHARS);
  for (const value of Object.values(args)) {
    if (typeof value === 'string' && value.length >= 2 && value.length <= 80) head = head.replaceAll(value, '@');
  }
  return head + shown.slice(ECHO_CHARS);
}

/** Programs that ask another machine. What a local one prints may hold any word. */
const REMOTE_PROGRAMS = new Set(
  'curl wget http https ssh adb aws gcloud az gh glab kubectl oc docker podman helm flyctl heroku vercel nomad doctl argocd'.split(
    ' ',
  ),
);

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

function failureOf(call: RawCall, answer: AnswerReading, semantics: CallSemantics): Step['failure'] {
  if (call.resultMissing) return undefined;
  if (!call.isError && !answer.refuses && !runFailed(answer, semantics)) return undefined;
  const { args } = call;
  const failure = isJsonObject(args) ? quoting(withoutEchoes(answer.failure, answer.text, args), args) : answer.failure;
  return { ...failure, soft: !call.isError && !answer.declaresFailure };
}

const MIN_QUOTED_CHARS = 3;
const WORD = /\p{L}{2,}/gu;
/** Fewer words before a quotation, such as the mere name of an error, say nothing of the cause. */
const MIN_CAUSE_WORDS = 3;

/** Shorter than this a text may stand in an answer by chance. */
const MIN_ECHO_CHARS = 12;
/** A longer answer is compared as it is. */
const MAX_ECHOING_CHARS = 8_000;

/** A failure that hands back what it was given: the lines that speak of it are compared without that. */
function withoutEchoes(failure: ErrorClass, text: string, args: Readonly<Record<string, unknown>>): ErrorClass {
  if (text.length > MAX_ECHOING_CHARS) return failure;
  let bare = text;
  for (const value of Object.values(args)) {
    if (typeof value !== 'string' || value.length < MIN_ECHO_CHARS) continue;
    const echo = value.trim();
    if (echo.length >= MIN_ECHO_CHARS && bare.includes(echo)) bare = bare.replaceAll(echo, '@');
  }
  if (bare === text) return failure;
  const { spokenKey, placelessKey } = classifyError(bare);
  return { ...failure, spokenKey, placelessKey };
}

/** A failure whose line quotes the call: what stands before the quotation is the cause, whatever was asked. */
function quoting(failure: ErrorClass, args: Readonly<Record<string, unknown>>): ErrorClass {
  const places = Object.values(args).map((value) => {
    if (typeof value !== 'string') return -1;
    // Of a text of several lines the first stands there.
    const [first = ''] = value.trimStart().split('\n', 1);
    return first.length < MIN_QUOTED_CHARS ? -1 : failure.line.indexOf(first);
  });
  const place = Math.min(...places.filter((at) => at > 0));
  const cause = failure.line.slice(0, place);
  if (place === Infinity || (cause.match(WORD)?.length ?? 0) < MIN_CAUSE_WORDS) return failure;
  return { ...failure, groupKey: groupKeyOf(failure.category, `${cause}@`) };
}

/** Only what a program run says of itself counts: a file that is shown may hold any error. */
function runFailed(answer: AnswerReading, { kind, shell }: CallSemantics): boolean {
  if (kind === 'execute' || (kind === 'write' && shell)) return answer.tellsAnywhere;
  return kind === 'unknown' && answer.tellsAtEnd;
}
