/** Where and what was put into a text. */
export interface Insertion {
  /** Place in the text before, in UTF-16 units. */
  readonly at: number;
  readonly text: string;
}

/**
 * What was put into `before` to get `after`, where that is all that happened: nothing taken out, nothing changed, one
 * place. Undefined otherwise. Equal texts have an empty insertion.
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
