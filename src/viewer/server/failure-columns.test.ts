import { expect, test } from 'vitest';

import { StretchCounts } from '../../core/base/stretch-counts.ts';
import { failureColumns, type StripMarks } from './failure-columns.ts';

function columnsOf(calls: number, failed: (call: number) => boolean, marks: Partial<StripMarks> = {}): string {
  const failures = new StretchCounts(60);
  for (let call = 0; call < calls; call += 1) failures.mark(call, failed(call));
  return failureColumns(failures, { stuck: [], advice: [], ...marks });
}

test('a short run has one column per call, and a run without calls has none', () => {
  expect(columnsOf(0, () => false)).toBe('');
  expect(columnsOf(5, (call) => call === 2)).toBe('..x..');
});

test('advice takes precedence over a stuck pattern, and that over a failure', () => {
  expect(columnsOf(6, (call) => call < 5, { stuck: [[2, 4]], advice: [3] })).toBe('xx!a!.');
});

test('in a long run a column covers several calls and shows a failure of any of them', () => {
  const text = columnsOf(1_000, (call) => call === 500);
  expect(text).toHaveLength(32);
  expect(text.indexOf('x')).toBe(Math.floor(500 / 32));
  for (const calls of [59, 60, 61, 119, 120, 121, 100_000]) {
    expect(columnsOf(calls, () => false, { stuck: [[0, calls]], advice: [calls] }).length).toBeLessThanOrEqual(60);
  }
});
