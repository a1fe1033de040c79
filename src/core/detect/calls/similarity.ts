/**
 * Returns the similarity of the arguments of two calls: shared words divided by all words (Jaccard index), from 0 to 1. Two calls
 * without words have similarity 1.
 *
 * @param left   word hashes in ascending order (`Step.tokens`)
 * @param right  word hashes in ascending order
 * Cost: one merge of two lists of at most 64 hashes.
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
