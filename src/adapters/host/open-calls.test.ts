import { expect, test } from 'vitest';

import { CallIds } from './open-calls.ts';

test('a reused id gets a number, and other ids stay', () => {
  const ids = new CallIds();
  expect(ids.isUsed('a')).toBe(false);
  expect(['a', 'b', 'a', 'a'].map((id) => ids.next(id))).toEqual(['a', 'b', 'a#2', 'a#3']);
  expect(ids.isUsed('a')).toBe(true);
});
