/** A pair of indices in two sequences. Null means that the element of the other sequence has no partner. */
export type AlignedPair = readonly [number, number] | readonly [number, null] | readonly [null, number];

/** Maximum number of differences in one search. With more, the best path found is kept and the search restarts at its end. */
const MAX_DIFFERENCES = 200;

/** Myers, "An O(ND) difference algorithm", nearly minimal after 200 differences in a row. Cost: at most O((n + m) · 200). */
export function alignKeys(a: readonly string[], b: readonly string[]): readonly AlignedPair[] {
  // A key that only one side contains never has a partner.
  const [keysOfA, keysOfB] = [new Set(a), new Set(b)];
  const left = a.flatMap((key, index) => (keysOfB.has(key) ? [index] : []));
  const right = b.flatMap((key, index) => (keysOfA.has(key) ? [index] : []));
  const keysAt = (keys: readonly string[], indices: readonly number[]): readonly string[] =>
    indices.map((index) => keys[index] ?? '');
  const pairs: AlignedPair[] = [];
  let [x, y] = [0, 0];
  const addUnpairedUntil = (endX: number, endY: number): void => {
    for (; x < endX; x += 1) pairs.push([x, null]);
    for (; y < endY; y += 1) pairs.push([null, y]);
  };
  for (const [leftIndex, rightIndex] of sharedPairs(keysAt(a, left), keysAt(b, right))) {
    const [nextX, nextY] = [left[leftIndex] ?? 0, right[rightIndex] ?? 0];
    addUnpairedUntil(nextX, nextY);
    pairs.push([nextX, nextY]);
    [x, y] = [nextX + 1, nextY + 1];
  }
  addUnpairedUntil(a.length, b.length);
  return pairs;
}

function* sharedPairs(a: readonly string[], b: readonly string[]): Generator<readonly [number, number]> {
  let [x, y] = [0, 0];
  while (x < a.length || y < b.length) {
    for (const [left, right] of findSteps(a, b, x, y)) {
      if (left !== null) x = left + 1;
      if (right !== null) y = right + 1;
      if (left !== null && right !== null) yield [left, right];
    }
  }
}

/** By diagonal `k = x - y`, at index `k + ORIGIN`: the farthest `x` reached with so many differences. */
type Reached = Int32Array;
const ORIGIN = MAX_DIFFERENCES + 1;

/** Returns the path from `(fromX, fromY)` to the end, or to the 200th difference. It has at least one step. */
function findSteps(a: readonly string[], b: readonly string[], fromX: number, fromY: number): readonly AlignedPair[] {
  const [n, m] = [a.length - fromX, b.length - fromY];
  const limit = Math.min(n + m, MAX_DIFFERENCES);
  const reached: Reached = new Int32Array(2 * ORIGIN + 1);
  const reachedBefore: Reached[] = [];
  for (;;) {
    const differences = reachedBefore.push(reached.slice()) - 1;
    let best = { x: 0, k: 0 };
    for (let k = -differences; k <= differences; k += 2) {
      let x = firstX(reached, k, differences);
      while (x < n && x - k < m && a[fromX + x] === b[fromY + x - k]) x += 1;
      reached[k + ORIGIN] = x;
      if (x <= n && x - k <= m && isBetter(x, k, best)) best = { x, k };
    }
    const isAtEnd = best.x === n && best.x - best.k === m;
    if (isAtEnd || differences === limit) return stepsTo(best, { reachedBefore, fromX, fromY });
  }
}

function stepsTo(
  end: { readonly x: number; readonly k: number },
  search: { readonly reachedBefore: readonly Reached[]; readonly fromX: number; readonly fromY: number },
): readonly AlignedPair[] {
  const { fromX, fromY, reachedBefore } = search;
  const steps: AlignedPair[] = [];
  let { k, x } = end;
  for (const [differences, reached] of [...reachedBefore.entries()].toReversed()) {
    const startX = firstX(reached, k, differences);
    for (; x > startX; x -= 1) steps.push([fromX + x - 1, fromY + x - 1 - k]);
    if (differences === 0) break;
    if (goesDown(reached, k, differences)) {
      steps.push([null, fromY + x - k - 1]);
      k += 1;
    } else {
      steps.push([fromX + x - 1, null]);
      x -= 1;
      k -= 1;
    }
  }
  return steps.toReversed();
}

/** Prefers the path that is farther in total, then the more balanced one. */
function isBetter(x: number, k: number, best: { readonly x: number; readonly k: number }): boolean {
  const advantage = 2 * x - k - (2 * best.x - best.k);
  return advantage > 0 || (advantage === 0 && Math.abs(k) < Math.abs(best.k));
}

function firstX(reached: Reached, k: number, differences: number): number {
  return goesDown(reached, k, differences) ? (reached[k + 1 + ORIGIN] ?? 0) : (reached[k - 1 + ORIGIN] ?? 0) + 1;
}

/** True if the latest difference is a key of `b`, so that the path comes from the diagonal above. */
function goesDown(reached: Reached, k: number, differences: number): boolean {
  if (k === -differences) return true;
  return k !== differences && (reached[k - 1 + ORIGIN] ?? 0) < (reached[k + 1 + ORIGIN] ?? 0);
}
