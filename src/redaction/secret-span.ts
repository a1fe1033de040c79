/** A stretch of a text that is a secret, and the rule that says so. */
export interface SecretSpan {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
  readonly rule: string;
}

/** Tells equal secrets from different ones without giving them away: letters only, as `createFingerprint` gives them. */
export type Fingerprint = (secret: string) => string;

/** What stands in the place of a secret: `[REDACTED:rule]`, or with a fingerprint `[REDACTED:rule:letters]`. */
export function placeholderOf(rule: string, fingerprint = ''): string {
  return fingerprint === '' ? `[REDACTED:${rule}]` : `[REDACTED:${rule}:${fingerprint}]`;
}

const PLACEHOLDER = /\[REDACTED:[a-z0-9-]{1,40}(?::[a-z]{1,20})?\]/y;

/** Where the placeholder that begins at `at` ends, or -1 where none does. */
export function placeholderEnd(text: string, at: number): number {
  if (text.charCodeAt(at) !== 91 || text.charCodeAt(at + 1) !== 82) return -1;
  PLACEHOLDER.lastIndex = at;
  return PLACEHOLDER.test(text) ? PLACEHOLDER.lastIndex : -1;
}

/** Whether a text is a placeholder, with the name of a scheme before it or not, and nothing else. */
export function isPlaceholder(text: string): boolean {
  return /^(?:[A-Za-z][A-Za-z0-9-]{0,30} )?\[REDACTED:[a-z0-9-]{1,40}(?::[a-z]{1,20})?\]$/.test(text);
}
