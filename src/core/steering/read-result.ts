import type { TextReading } from '../redact/structure-only.ts';
import { classifyError, type ErrorCategory } from '../detect/calls/error-class.ts';
import { readAnswer } from '../detect/calls/answer-reading.ts';

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
const SHORT_CHARS = 400;

/** For stores without content, read as the analysis reads it: a cause of failure, `no changes`, `pending`, or `ok`. */
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
  // If the host reports the call as failed, the cause matters. Otherwise the word "says" prevents the text from being read
  // as a failure.
  return text.length > SHORT_CHARS || category === 'other' || category === 'silent' ? '' : `says ${CAUSES[category]}`;
}
