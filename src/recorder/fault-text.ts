import { messageOf } from '../base/error.ts';
import { redactText, type RedactTextOptions } from '../redaction/redact-text.ts';

const EVERY_RULE: RedactTextOptions = { off: new Set(), allows: () => false, named: true };

/**
 * The message of an error, with secrets redacted by all built-in rules: a store may quote an address with credentials, and user
 * code may quote anything.
 */
export function faultText(error: unknown): string {
  return redactText(messageOf(error), EVERY_RULE);
}
