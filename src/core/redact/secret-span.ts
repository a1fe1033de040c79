/** A secret in a text, and the rule that found it. */
export interface SecretSpan {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
  readonly rule: string;
}

/** Distinguishes secrets without revealing them: letters, as `createFingerprint` returns them. */
export type Fingerprint = (secret: string) => string;

/** The replacement of a secret: `[REDACTED:rule]`, or with a fingerprint `[REDACTED:rule:letters]`. */
export function placeholderOf(rule: string, fingerprint = ''): string {
  return fingerprint === '' ? `[REDACTED:${rule}]` : `[REDACTED:${rule}:${fingerprint}]`;
}

const PLACEHOLDER = /\[REDACTED:[a-z0-9-]{1,40}(?::[a-z]{1,20})?\]/y;

/** The end of a placeholder at `position`, or -1. */
export function placeholderEnd(text: string, position: number): number {
  if (text.charCodeAt(position) !== 91 || text.charCodeAt(position + 1) !== 82) return -1;
  PLACEHOLDER.lastIndex = position;
  return PLACEHOLDER.test(text) ? PLACEHOLDER.lastIndex : -1;
}

/** True if the whole text is a placeholder, optionally after a scheme. */
export function isPlaceholder(text: string): boolean {
  return /^(?:[A-Za-z][A-Za-z0-9-]{0,30} )?\[REDACTED:[a-z0-9-]{1,40}(?::[a-z]{1,20})?\]$/.test(text);
}
