import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { similarity } from './tokens.ts';

test('it is the shared words over all words', () => {
  expect(similarity([1, 2, 3], [2, 3, 4])).toBe(0.5);
  expect(similarity([1], [2])).toBe(0);
  expect(similarity([], [])).toBe(1);
});

test('it is symmetric, between 0 and 1, and 1 for equal lists', () => {
  const list = fc.uniqueArray(fc.nat(40), { maxLength: 20 }).map((values) => values.sort((a, b) => a - b));
  fc.assert(
    fc.property(list, list, (left, right) => {
      const value = similarity(left, right);
      expect(value).toBe(similarity(right, left));
      expect(value).toBeGreaterThanOrEqual(0);
      expect(value).toBeLessThanOrEqual(1);
      expect(similarity(left, left)).toBe(1);
    }),
  );
});
