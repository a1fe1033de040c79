/**
 * How alike two calls' arguments are: shared words over all words (Jaccard), 0 to 1. Two calls without words are
 * equal (1).
 *
 * @param left   word hashes, ascending (`Step.tokens`)
 * @param right  the same
 * Cost: one merge of two lists of at most 64.
 */
export function similarity(left: readonly number[], right: readonly number[]): number {
  let shared = 0;
  let leftIndex = 0;
  let rightIndex = 0;
  while (leftIndex < left.length && rightIndex < right.length) {
    // Both indices are below their lengths.
    const difference = (left[leftIndex] as number) - (right[rightIndex] as number);
    if (difference === 0) shared += 1;
    if (difference <= 0) leftIndex += 1;
    if (difference >= 0) rightIndex += 1;
  }
  const all = left.length + right.length - shared;
  return all === 0 ? 1 : shared / all;
}
