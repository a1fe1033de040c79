/** Splits a text at blanks and returns its words as a set. */
export function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/));
}
