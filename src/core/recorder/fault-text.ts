import { messageOf } from '../base/error.ts';
import { redactText, type RedactTextOptions } from '../redact/redact-text.ts';

const EVERY_RULE: RedactTextOptions = { off: new Set(), allows: () => false, named: true };

/**
 * Returns the message of an error, with secrets redacted by all built-in rules. The message of a store may contain an
 * address with credentials, and the message of user code may contain any text.
 */
export function faultText(error: unknown): string {
  return redactText(messageOf(error), EVERY_RULE);
}
