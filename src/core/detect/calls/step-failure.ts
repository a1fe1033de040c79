import { isJsonObject } from '../../base/json.ts';
import type { AnswerReading } from './answer-reading.ts';
import { classifyError, groupKeyOf, type ErrorClass } from './error-class.ts';
import type { RawCall } from './raw-call.ts';
import type { ShellAnswer } from './shell-answer.ts';
import { isAnswerCode, type CallSemantics } from './tool-semantics.ts';

/** A classified failure. `soft` is true if only the words of the result report the failure. */
export type StepFailure = ErrorClass & { readonly soft: boolean };

/** Returns the call with an error flag derived from its exit code, unless the program answers with that code. */
export function withExitFlag(call: RawCall, printed: ShellAnswer | undefined, answer: AnswerReading): RawCall {
  if (printed === undefined || printed.exitCode === 0) return call;
  const isAnswer = isAnswerCode(call.tool, call.args, printed.exitCode) && !answer.refuses;
  return call.isError === isAnswer ? { ...call, isError: !isAnswer } : call;
}

/**
 * Returns the failure of a call, based on its error flag or its result.
 *
 * @param endedWell  the exit code was 0, so the words of the result do not show whether the call failed
 */
export function failureOf(
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

/** Removes from the `messageKey` of a failure the arguments that the result repeats. */
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
  if (kind === 'execute' || (kind === 'write' && shell)) return answer.reportsFailureAnywhere;
  return kind === 'unknown' && answer.reportsFailureAtEnd;
}
