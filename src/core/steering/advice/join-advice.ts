import type { Severity } from '../../records/spoken-advice.ts';

export interface JoinOptions {
  /** Maximum UTF-16 units of the joined text; default `MAX_ADVICE_CHARS`. */
  readonly maxChars?: number;
  /** Default: a blank line. */
  readonly separator?: string;
}

/** Default maximum in UTF-16 units. Every known delivery channel can carry a text of this length. */
export const MAX_ADVICE_CHARS = 9_000;

export interface JoinedAdvice<Item> {
  /** The joined text; `''` if no item fits. */
  readonly text: string;
  /** The items in the text, in order. */
  readonly included: readonly Item[];
  /** The items that did not fit, most severe first. */
  readonly omitted: readonly Item[];
}

const RANK: Readonly<Record<Severity, number>> = { warning: 0, caution: 1, info: 2 };

/**
 * Joins advice, most severe first. Items of equal severity keep their order. Beyond the limit, the least severe items are
 * left out as a whole. An item longer than the limit is always left out.
 *
 * Cost: one sort of the items.
 */
export function joinAdvice<Item extends { readonly text: string; readonly severity: Severity }>(
  items: readonly Item[],
  options: JoinOptions = {},
): JoinedAdvice<Item> {
  const { maxChars = MAX_ADVICE_CHARS, separator = '\n\n' } = options;
  const includedItems: Item[] = [];
  const omittedItems: Item[] = [];
  let length = -separator.length;
  let isFull = false;
  for (const item of items.toSorted((a, b) => RANK[a.severity] - RANK[b.severity])) {
    const lengthAfter = length + separator.length + item.text.length;
    if (item.text.length > maxChars) {
      omittedItems.push(item);
    } else if (isFull || lengthAfter > maxChars) {
      isFull = true;
      omittedItems.push(item);
    } else {
      length = lengthAfter;
      includedItems.push(item);
    }
  }
  return {
    text: includedItems.map((item) => item.text).join(separator),
    included: includedItems,
    omitted: omittedItems,
  };
}
