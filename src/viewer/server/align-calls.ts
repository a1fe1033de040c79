import { setImmediate as nextTurn } from 'node:timers/promises';

/** A pair of indices in two sequences. Null means that the element of the other sequence has no partner. */
export type AlignedPair = readonly [number, number] | readonly [number, null] | readonly [null, number];

/** Maximum number of differences in one search. With more, the best path found is kept and the search restarts at its end. */
const MAX_DIFFERENCES = 200;

/**
 * Aligns two sequences of keys with the fewest differences (Myers, "An O(ND) difference algorithm"). If more than 200 shared keys in a
 * row differ, the result has nearly the fewest.
 *
 * Cost: at most O((n + m) · 200), split into steps of a few milliseconds; about a megabyte of memory.
 */
export async function alignKeys(a: readonly string[], b: readonly string[]): Promise<readonly AlignedPair[]> {
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
  for (const [leftIndex, rightIndex] of await alignShared(keysAt(a, left), keysAt(b, right))) {
    if (leftIndex === null || rightIndex === null) continue;
    const [nextX, nextY] = [left[leftIndex] ?? 0, right[rightIndex] ?? 0];
    addUnpairedUntil(nextX, nextY);
    pairs.push([nextX, nextY]);
    [x, y] = [nextX + 1, nextY + 1];
  }
  addUnpairedUntil(a.length, b.length);
  return pairs;
}

async function alignShared(a: readonly string[], b: readonly string[]): Promise<readonly AlignedPair[]> {
  const pairs: AlignedPair[] = [];
  let [x, y] = [0, 0];
  while (x < a.length || y < b.length) {
    const steps = findSteps(a, b, x, y);
    for (const step of steps) pairs.push(step);
    await nextTurn();
    for (const [left, right] of steps) {
      if (left !== null) x = left + 1;
      if (right !== null) y = right + 1;
    }
  }
  return pairs;
}

/** Returns the path from `(fromX, fromY)` to the end, or to the 200th difference. It has at least one step. */
function findSteps(a: readonly string[], b: readonly string[], fromX: number, fromY: number): readonly AlignedPair[] {
  const [n, m] = [a.length - fromX, b.length - fromY];
  const limit = Math.min(n + m, MAX_DIFFERENCES);
  const offset = limit + 1;
  let farthest = new Int32Array(2 * offset + 1);
  const trace: Int32Array[] = [];
  for (let d = 0; d <= limit; d += 1) {
    trace.push(farthest.slice());
    let best = { x: 0, k: 0 };
    for (let k = -d; k <= d; k += 2) {
      let x = goesDown(farthest, { k, d, offset })
        ? (farthest[offset + k + 1] ?? 0)
        : (farthest[offset + k - 1] ?? 0) + 1;
      while (x < n && x - k < m && a[fromX + x] === b[fromY + x - k]) x += 1;
      farthest[offset + k] = x;
      if (x <= n && x - k <= m && isBetter(x, k, best)) best = { x, k };
      if (x >= n && x - k >= m) return backtrack(trace, { x: n, k: n - m, d, offset, fromX, fromY });
    }
    if (d === limit) return backtrack(trace, { ...best, d, offset, fromX, fromY });
    farthest = farthest.slice();
  }
  return [];
}

interface PathEnd {
  readonly x: number;
  readonly k: number;
  readonly d: number;
  readonly offset: number;
  readonly fromX: number;
  readonly fromY: number;
}

function backtrack(trace: readonly Int32Array[], pathEnd: PathEnd): readonly AlignedPair[] {
  const { fromX, fromY, offset } = pathEnd;
  const steps: AlignedPair[] = [];
  let { k, x } = pathEnd;
  for (let d = pathEnd.d; d >= 0; d -= 1) {
    const farthest = trace[d] ?? new Int32Array();
    const isDown = goesDown(farthest, { k, d, offset });
    const previousK = isDown ? k + 1 : k - 1;
    const previousX = d === 0 ? 0 : (farthest[offset + previousK] ?? 0);
    const startX = d === 0 ? 0 : isDown ? previousX : previousX + 1;
    while (x > startX) {
      x -= 1;
      steps.push([fromX + x, fromY + x - k]);
    }
    if (d === 0) break;
    if (isDown) steps.push([null, fromY + x - k - 1]);
    else steps.push([fromX + x - 1, null]);
    [k, x] = [previousK, previousX];
  }
  return steps.toReversed();
}

/** Prefers the path that is farther in total, then the more balanced one. */
function isBetter(x: number, k: number, best: { readonly x: number; readonly k: number }): boolean {
  const advantage = 2 * x - k - (2 * best.x - best.k);
  return advantage > 0 || (advantage === 0 && Math.abs(k) < Math.abs(best.k));
}

function goesDown(
  farthest: Int32Array,
  { d, k, offset }: { readonly k: number; readonly d: number; readonly offset: number },
): boolean {
  return k === -d || (k !== d && (farthest[offset + k - 1] ?? 0) < (farthest[offset + k + 1] ?? 0));
}
