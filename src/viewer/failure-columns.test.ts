import { expect, test } from 'vitest';

import { FailureColumns } from './failure-columns.ts';

function columnsOf(calls: number, failed: (call: number) => boolean): FailureColumns {
  const columns = new FailureColumns();
  for (let call = 0; call < calls; call += 1) columns.mark(call, failed(call));
  return columns;
}

test('a column is a call, and a run without calls has none', () => {
  expect(columnsOf(0, () => false).text([], [])).toBe('');
  expect(columnsOf(5, (call) => call === 2).text([], [])).toBe('..x..');
});

test('advice stands over a stuck pattern, that over a failure', () => {
  expect(columnsOf(6, (call) => call < 5).text([[2, 4]], [3])).toBe('xx!a!.');
});

test('of many calls a column is several, and a failure in any of them shows', () => {
  const text = columnsOf(1_000, (call) => call === 500).text([], []);
  expect(text).toHaveLength(32);
  expect(text.indexOf('x')).toBe(Math.floor(500 / 32));
  for (const calls of [59, 60, 61, 119, 120, 121, 100_000]) {
    expect(columnsOf(calls, () => false).text([[0, calls]], [calls]).length).toBeLessThanOrEqual(60);
  }
});
