import { isJsonObject } from '../base/json.ts';
import type { AnswerReading } from './answer-reading.ts';
import { classifyError, groupKeyOf, type ErrorClass } from './error-class.ts';
import type { RawCall } from './raw-call.ts';
import type { ShellAnswer } from './shell-answer.ts';
import type { CallSemantics } from './tool-semantics.ts';

/** A classified failure; `soft` if only the words of the answer report it. */
export type StepFailure = ErrorClass & { readonly soft: boolean };

/** The call with its exit code as the flag. */
export function flagged(call: RawCall, printed: ShellAnswer | undefined, { kind, shell }: CallSemantics): RawCall {
  if (printed === undefined || printed.exitCode === 0) return call;
  // `grep` without a match, `diff` with a difference, `test` that says no.
  const saysNo = printed.exitCode === 1 && kind === 'read' && shell && printed.text.trim() === '';
  return call.isError === saysNo ? { ...call, isError: !saysNo } : call;
}

/**
 * The failure of a call, by its flag or by its answer.
 *
 * @param endedWell  the exit code was 0, so the words of the answer say nothing about the call
 */
export function failureOf(
  call: RawCall,
  answer: AnswerReading,
  { semantics, endedWell }: { readonly semantics: CallSemantics; readonly endedWell: boolean },
): StepFailure | undefined {
  if (!call.isError && (endedWell || (!answer.refuses && !runFailed(answer, semantics)))) return undefined;
  const { args } = call;
  const failure = isJsonObject(args) ? withoutQuotation(withoutEchoes(answer, args), args) : answer.failure;
  return { ...failure, soft: !call.isError && !answer.declaresFailure };
}

/** A shorter argument may appear in an answer by chance. */
const MIN_ECHO_CHARS = 12;
/** A longer answer is compared with its echoes. */
const MAX_ECHOING_CHARS = 8_000;

/** The failure with a message that ignores arguments which the answer repeats. */
function withoutEchoes({ text, failure }: AnswerReading, args: Readonly<Record<string, unknown>>): ErrorClass {
  if (text.length > MAX_ECHOING_CHARS) return failure;
  let bare = text;
  for (const value of Object.values(args)) {
    const echo = typeof value === 'string' ? value.trim() : '';
    if (echo.length >= MIN_ECHO_CHARS && bare.includes(echo)) bare = bare.replaceAll(echo, '@');
  }
  return bare === text ? failure : { ...failure, messageKey: classifyError(bare).messageKey };
}

const MIN_QUOTED_CHARS = 3;
const WORD = /\p{L}{2,}/gu;
/** Fewer words before a quotation, such as the name of an error, name no cause. */
const MIN_CAUSE_WORDS = 3;

/** Groups a failure whose line quotes the call by the text before the quotation. */
function withoutQuotation(failure: ErrorClass, args: Readonly<Record<string, unknown>>): ErrorClass {
  const places = Object.values(args).flatMap((value) => {
    if (typeof value !== 'string') return [];
    const [firstLine = ''] = value.trimStart().split('\n', 1);
    return firstLine.length < MIN_QUOTED_CHARS ? [] : failure.line.indexOf(firstLine);
  });
  const place = Math.min(...places.filter((at) => at > 0));
  const cause = failure.line.slice(0, place);
  if (place === Infinity || (cause.match(WORD)?.length ?? 0) < MIN_CAUSE_WORDS) return failure;
  return { ...failure, groupKey: groupKeyOf(failure.category, `${cause}@`) };
}

/** Only a program's report about itself counts: a file that is shown may hold any error. */
function runFailed(answer: AnswerReading, { kind, shell }: CallSemantics): boolean {
  if (kind === 'execute' || (kind === 'write' && shell)) return answer.reportsFailureAnywhere;
  return kind === 'unknown' && answer.reportsFailureAtEnd;
}
