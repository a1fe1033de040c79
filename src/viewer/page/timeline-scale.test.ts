import { expect, test } from 'vitest';

import { overviewOf } from '../../../test/support/overview-of.ts';
import { timeScale } from './timeline-scale.ts';

test('by time, calls are as far apart as in time, and an idle hour takes little space', () => {
  const hour = 3_600_000;
  const overview = {
    ...overviewOf([1, 1, 1, 1], 1),
    atMs: [1_000, 11_000, hour + 11_000, hour + 41_000],
    endMs: hour + 41_000,
    gaps: [{ seq: 2, ms: hour }],
  };
  const scale = timeScale(overview);
  const [first = 0, second = 0, third = 0, fourth = 0] = [0, 1, 2, 3].map((seq) => scale?.placeOf(seq));
  expect(fourth - third).toBeGreaterThan(2 * (second - first));
  expect(third - second).toBeLessThan((scale?.length ?? 0) / 10);
  expect([0, 1, 2, 3].map((seq) => scale?.seqAt(scale.placeOf(seq) + 1))).toEqual([0, 1, 2, 3]);
});

test('records without times have no time scale', () => {
  expect(timeScale(overviewOf([1, 1], 1))).toBe(undefined);
});
