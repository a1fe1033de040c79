export interface Insertion {
  /** Index in the text before, in UTF-16 units. */
  readonly at: number;
  readonly text: string;
}

/**
 * The single insertion that turns `before` into `after`; undefined for other changes. Empty for equal texts.
 *
 * Cost: O(length).
 */
export function insertedText(before: string, after: string): Insertion | undefined {
  const length = after.length - before.length;
  if (length < 0) return undefined;
  let at = 0;
  while (at < before.length && before[at] === after[at]) at += 1;
  if (before.slice(at) !== after.slice(at + length)) return undefined;
  return { at, text: after.slice(at, at + length) };
}
