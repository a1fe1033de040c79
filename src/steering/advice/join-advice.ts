import type { Severity } from '../../records/feedback.ts';

/** How texts are joined. */
export interface JoinOptions {
  /** Most UTF-16 units of the whole; default 9,000, which every known channel carries whole. */
  readonly maxChars?: number;
  /** Default a blank line. */
  readonly separator?: string;
}

/** One text, and what of it is in it. */
export interface JoinedAdvice<Item> {
  /** `''` when nothing fits. */
  readonly text: string;
  /** In the order of the text. */
  readonly said: readonly Item[];
  /** What did not fit, loudest first. */
  readonly left: readonly Item[];
}

const RANK: Readonly<Record<Severity, number>> = { warning: 0, caution: 1, info: 2 };

/**
 * Joins advice by severity, loudest first, then in the order given. Over the limit whole items are left out, from
 * the lowest up; an item that alone is too long is left out first. No text is ever cut.
 *
 * Cost: one sort of the items.
 */
export function joinAdvice<Item extends { readonly text: string; readonly severity: Severity }>(
  items: readonly Item[],
  options: JoinOptions = {},
): JoinedAdvice<Item> {
  const { maxChars = 9_000, separator = '\n\n' } = options;
  const said: Item[] = [];
  const left: Item[] = [];
  let length = -separator.length;
  let full = false;
  for (const item of items.toSorted((a, b) => RANK[a.severity] - RANK[b.severity])) {
    const after = length + separator.length + item.text.length;
    if (item.text.length > maxChars) {
      left.push(item);
    } else if (full || after > maxChars) {
      full = true;
      left.push(item);
    } else {
      length = after;
      said.push(item);
    }
  }
  return { text: said.map((item) => item.text).join(separator), said, left };
}
