/**
 * Returns the most similar name. A name that differs only in case and separators is preferred. Otherwise the edit distance
 * must be at most a third of its length.
 *
 * Cost: O(names × length²).
 */
export function nearestName(given: string, names: readonly string[]): string | undefined {
  if (given.length > 64) return undefined;
  const plain = plainName(given);
  const same = names.find((name) => plainName(name) === plain);
  if (same !== undefined) return same;
  let nearest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const name of names) {
    const distance = editDistance(plain, plainName(name));
    if (distance < least && distance <= Math.max(1, Math.floor(name.length / 3))) {
      nearest = name;
      least = distance;
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
      const same = one[row - 1] === other[column - 1];
      let cost = Math.min(at(last, column) + 1, at(next, column - 1) + 1, at(last, column - 1) + (same ? 0 : 1));
      const swapped = row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (swapped) cost = Math.min(cost, at(beforeLast, column - 2) + 1);
      next.push(cost);
    }
    beforeLast = last;
    last = next;
  }
  return at(last, other.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
