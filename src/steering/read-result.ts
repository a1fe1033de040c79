import type { TextReading } from '../redaction/structure-only.ts';
import { classifyError, type ErrorCategory } from '../calls/error-class.ts';
import { readAnswer } from '../calls/answer-reading.ts';

/** A text per cause, which the analysis classifies as the same cause. */
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
/** A longer result without a sign of failure is not classified. */
const SHORT_CHARS = 400;

/**
 * Replaces a tool result by one of a fixed list of texts that the analysis reads the same way: a failure with its cause,
 * `no changes`, `pending`, `ok`. For stores that keep no content.
 *
 * Cost: a few linear passes.
 */
export function readResult(text: string): TextReading {
  return { plain: readAnswer(text).masked, says: substituteOf(text) };
}

function substituteOf(text: string): string {
  if (text.trim() === '') return '';
  const answer = readAnswer(text);
  const { category } = classifyError(text);
  if (answer.refuses) return `Error: ${CAUSES[category]}`;
  if (answer.isUnchanged) return 'no changes';
  if (answer.isPending) return 'pending';
  if (answer.acknowledges) return 'ok';
  // If the host flags the call as failed, the cause counts; if not, "says" keeps the text from reading as a failure.
  return text.length > SHORT_CHARS || category === 'other' || category === 'silent' ? '' : `says ${CAUSES[category]}`;
}
