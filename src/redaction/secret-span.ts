/** A stretch of a text that is a secret, and the rule that says so. */
export interface SecretSpan {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
  readonly rule: string;
}

/** What stands in the place of a secret. */
export function placeholderOf(rule: string): string {
  return `[REDACTED:${rule}]`;
}

const PLACEHOLDER = /\[REDACTED:[a-z0-9-]{1,40}\]/y;

/** Where the placeholder that begins at `at` ends, or -1 where none does. */
export function placeholderEnd(text: string, at: number): number {
  if (text.charCodeAt(at) !== 91 || text.charCodeAt(at + 1) !== 82) return -1;
  PLACEHOLDER.lastIndex = at;
  return PLACEHOLDER.test(text) ? PLACEHOLDER.lastIndex : -1;
}

/** Whether a text is a placeholder, with the name of a scheme before it or not, and nothing else. */
export function isPlaceholder(text: string): boolean {
  return /^(?:[A-Za-z][A-Za-z0-9-]{0,30} )?\[REDACTED:[a-z0-9-]{1,40}\]$/.test(text);
}
