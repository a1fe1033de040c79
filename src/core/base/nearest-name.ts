/**
 * Returns the most similar name. A name that differs only in case and separators is preferred. Otherwise the edit distance
 * must be at most a third of its length.
 *
 * Cost: O(names × length²).
 */
export function nearestName(given: string, names: readonly string[]): string | undefined {
  if (given.length > 64) return undefined;
  const plainInput = plainName(given);
  const sameName = names.find((name) => plainName(name) === plainInput);
  if (sameName !== undefined) return sameName;
  let nearest: string | undefined;
  let leastDistance = Number.POSITIVE_INFINITY;
  for (const name of names) {
    const distance = editDistance(plainInput, plainName(name));
    if (distance < leastDistance && distance <= Math.max(1, Math.floor(name.length / 3))) {
      nearest = name;
      leastDistance = distance;
    }
  }
  return nearest;
}

function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[_\-. ]/g, '');
}

/** Damerau-Levenshtein distance. */
export function editDistance(one: string, other: string): number {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row += 1) {
    const next = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      let cost = Math.min(
        cellAt(last, column) + 1,
        cellAt(next, column - 1) + 1,
        cellAt(last, column - 1) + (isSame ? 0 : 1),
      );
      const isSwapped =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (isSwapped) cost = Math.min(cost, cellAt(beforeLast, column - 2) + 1);
      next.push(cost);
    }
    beforeLast = last;
    last = next;
  }
  return cellAt(last, other.length);
}

function cellAt(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
