import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { alignKeys } from './align-keys.ts';

const keys = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 40 });

test('every call of both sides occurs once, in order, and aligned calls have the same key', () => {
  fc.assert(
    fc.property(keys, keys, (a, b) => {
      const pairs = alignKeys(a, b);
      expect(pairs.flatMap(([x]) => (x === null ? [] : [x]))).toEqual(a.map((_, index) => index));
      expect(pairs.flatMap(([, y]) => (y === null ? [] : [y]))).toEqual(b.map((_, index) => index));
      const besides = pairs.flatMap(([x, y]) => (x === null || y === null ? [] : [[a[x], b[y]]]));
      expect(besides.filter(([left, right]) => left !== right)).toEqual([]);
    }),
  );
});

test('the number of differences is minimal', () => {
  fc.assert(
    fc.property(keys, keys, (a, b) => {
      const same = alignKeys(a, b).filter(([x, y]) => x !== null && y !== null).length;
      expect(same).toBe(longestCommon(a, b));
    }),
  );
});

test('without shared keys every call stands alone, at any length', () => {
  const a = Array.from({ length: 3_000 }, (_, index) => `a${index}`);
  const b = Array.from({ length: 2_000 }, (_, index) => `b${index}`);
  const pairs = alignKeys(a, b);
  expect(pairs).toHaveLength(5_000);
  expect(pairs.flatMap(([x]) => (x === null ? [] : [x]))).toEqual(a.map((_, index) => index));
});

test('any number of extra calls on one side hides no match', () => {
  const a = Array.from({ length: 5_000 }, (_, index) => `k${index}`);
  const same = alignKeys(a, a.slice(3_000)).filter(([x, y]) => x !== null && y !== null).length;
  expect(same).toBe(2_000);
});

test('equal calls after more than 200 differences are aligned', () => {
  const tail = Array.from({ length: 100 }, (_, index) => `t${index}`);
  // Both have the same keys, in an order that has almost nothing in common.
  const turned = Array.from({ length: 900 }, (_, index) => `k${index}`);
  const pairs = alignKeys([...turned, ...tail], [...turned.toReversed(), ...tail]);
  expect(pairs.filter(([x, y]) => x !== null && y !== null && x >= 900 && y >= 900)).toHaveLength(100);
});

function longestCommon(a: readonly string[], b: readonly string[]): number {
  let row = b.map(() => 0);
  for (const one of a) {
    const next: number[] = [];
    for (const [at, other] of b.entries()) {
      const before = at === 0 ? 0 : (row[at - 1] ?? 0);
      next.push(one === other ? before + 1 : Math.max(row[at] ?? 0, next[at - 1] ?? 0));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
