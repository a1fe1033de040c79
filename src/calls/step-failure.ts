import { isJsonObject } from '../base/json.ts';
import type { AnswerReading } from './answer-reading.ts';
import { classifyError, groupKeyOf, type ErrorClass } from './error-class.ts';
import type { RawCall } from './raw-call.ts';
import type { ShellAnswer } from './shell-answer.ts';
import type { CallSemantics } from './tool-semantics.ts';

/** A failed call, sorted; `soft` where only the words of its text tell. */
export type StepFailure = ErrorClass & { readonly soft: boolean };

/** Whether the call failed, as far as a flag says or an exit code, which is a flag only in another place. */
export function flagged(call: RawCall, printed: ShellAnswer | undefined, { kind, shell }: CallSemantics): RawCall {
  if (printed === undefined || printed.exitCode === 0) return call;
  // `grep` has met nothing, `diff` a difference, `test` says no: an answer.
  const saysNo = printed.exitCode === 1 && kind === 'read' && shell && printed.text.trim() === '';
  return call.isError === saysNo ? { ...call, isError: !saysNo } : call;
}

/**
 * The failure of a call: flagged, or told by its answer.
 *
 * Cost: nothing to speak of where it succeeded; else the arguments are looked for in the answer, which is sorted anew where it
 * hands them back.
 */
export function failureOf(
  call: RawCall,
  answer: AnswerReading,
  { semantics, endedWell }: { readonly semantics: CallSemantics; readonly endedWell: boolean },
): StepFailure | undefined {
  if (call.resultMissing) return undefined;
  // A program that ends with 0 may print any error: of what it tests, of what it catches, of what stands in a log.
  if (endedWell && !call.isError) return undefined;
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
  const given = Object.values(args).filter((value) => typeof value === 'string' && value.includes('\n'));
  for (const value of Object.values(args)) {
    if (typeof value !== 'string' || value.length < MIN_ECHO_CHARS) continue;
    const echo = value.trim();
    if (echo.length >= MIN_ECHO_CHARS && bare.includes(echo)) bare = bare.replaceAll(echo, '@');
  }
  // Of a text of several lines a part may be handed back, or each line behind a number.
  if (given.length > 0) {
    const isEcho = (line: string): boolean =>
      line.length >= MIN_ECHO_CHARS && given.some((value) => typeof value === 'string' && value.includes(line));
    bare = bare
      .split('\n')
      .map((line) => (isEcho(line.replace(/^\W*\d+\W+/, '').trim()) || isEcho(line.trim()) ? '@' : line))
      .join('\n')
      .replaceAll(/(?:@\n)+@/g, '@');
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
