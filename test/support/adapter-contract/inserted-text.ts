export interface Insertion {
  /** Index in the original text, in UTF-16 code units. */
  readonly at: number;
  readonly text: string;
}

/**
 * Returns the single insertion that changes `before` into `after`; undefined for any other change. The inserted text is empty if the
 * texts are equal.
 *
 * Cost: O(length).
 */
export function insertedText(before: string, after: string): Insertion | undefined {
  const length = after.length - before.length;
  if (length < 0) return undefined;
  let start = 0;
  while (start < before.length && before[start] === after[start]) start += 1;
  if (before.slice(start) !== after.slice(start + length)) return undefined;
  return { at: start, text: after.slice(start, start + length) };
}
