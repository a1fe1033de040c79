import { messageOf } from '../base/error.ts';
import { redactText, type RedactTextOptions } from '../redaction/redact-text.ts';

const EVERY_RULE: RedactTextOptions = { off: new Set(), allows: () => false, named: true };

/**
 * What went wrong, without secrets by the built-in rules: a store that refuses records may quote an address with credentials,
 * code of the user's own anything. Nobody can switch them off here, because nothing of a run is meant to stand in it.
 */
export function faultText(error: unknown): string {
  return redactText(messageOf(error), EVERY_RULE);
}
