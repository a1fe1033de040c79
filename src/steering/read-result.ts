import type { TextReading } from '../redaction/structure-only.ts';
import { classifyError, type ErrorCategory } from '../calls/error-class.ts';
import { readAnswer } from '../calls/answer-reading.ts';

/** What is said of each cause; the analysis reads the same cause in it. */
const CAUSES: { readonly [Category in ErrorCategory]: string } = {
  auth: 'unauthorized',
  permission: 'permission denied',
  'rate-limit': 'rate limit',
  timeout: 'timed out',
  network: 'connection refused',
  'missing-program': 'command not found',
  validation: 'validation failed',
  usage: 'unknown option',
  'not-found': 'not found',
  syntax: 'syntax error',
  other: 'failed',
  silent: '',
};
/** How much of an answer may tell of a cause when nothing says that it is a failure. */
const SHORT_CHARS = 400;

/**
 * What a tool's answer says, in words of a fixed list that the analysis reads as it reads the answer: a failure and its
 * cause, `Nothing happens.`, `no changes`, `pending`, `ok`. For stores that keep no content.
 *
 * Cost: as the reading in the analysis, a few linear passes.
 */
export function readResult(text: string): TextReading {
  return { plain: readAnswer(text).masked, says: saying(text) };
}

function saying(text: string): string {
  if (text.trim() === '') return '';
  const answer = readAnswer(text);
  const { category } = classifyError(text);
  if (answer.refuses) return `Error: ${CAUSES[category]}`;
  if (answer.isIneffective) return 'Nothing happens.';
  if (answer.isUnchanged) return 'no changes';
  if (answer.isPending) return 'pending';
  if (answer.acknowledges) return 'ok';
  // A host may flag it as a failure; then its cause counts. Unflagged, "says" keeps it from reading as one.
  return text.length > SHORT_CHARS || category === 'other' || category === 'silent' ? '' : `says ${CAUSES[category]}`;
}
