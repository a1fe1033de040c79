import { expect, test } from 'vitest';
import { deadlineAfter, isExpired, remainingMs } from './deadline.ts';

test('the parts of a span add up', () => {
  expect(deadlineAfter(1_000, { hours: 1, minutes: 2, seconds: 3 })).toEqual({ atMs: 3_724_000 });
  expect(deadlineAfter(0, { seconds: 0.5 })).toEqual({ atMs: 500 });
});

test('a deadline is expired at its moment and after it, not before', () => {
  const deadline = deadlineAfter(0, { seconds: 10 });
  expect([9_999, 10_000, 10_001].map((nowMs) => isExpired(deadline, nowMs))).toEqual([false, true, true]);
  expect([4_000, 10_000, 12_000].map((nowMs) => remainingMs(deadline, nowMs))).toEqual([6_000, 0, -2_000]);
});

test.each([[{}], [{ minutes: -1 }], [{ seconds: Number.NaN }], [{ hours: Number.POSITIVE_INFINITY }]])(
  'a span of %o is refused',
  (span) => {
    expect(() => deadlineAfter(0, span)).toThrow(expect.objectContaining({ code: 'invalid-argument' }));
  },
);
