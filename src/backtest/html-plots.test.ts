import { expect, test } from 'vitest';

import { htmlText } from '../html/html.ts';
import type { SweepPointReport, SweepReport } from './backtest-report.ts';
import { sweepPlot } from './html-plots.ts';
import { shareOf } from './statistics.ts';

function point(value: number, hits: number, of: number): SweepPointReport {
  const falseRate = shareOf(0, 100);
  return {
    value,
    fired: of,
    runs: of,
    precision: shareOf(hits, of),
    recall: shareOf(hits, 1_000),
    falseRate,
    f1: null,
  };
}

function plotOf(points: readonly SweepPointReport[]): string {
  const sweep: SweepReport = { field: 'a.b', signal: { by: 'provider', name: 'x' }, part: 'all', points };
  return htmlText(sweepPlot(sweep));
}

/** The places of elements, by their attributes for x and y. */
function places(plot: string, pattern: RegExp): readonly (readonly [number, number])[] {
  return [...plot.matchAll(pattern)].map(([, x, y]) => [Number(x), Number(y)]);
}

test('names of points that lie on each other do not', () => {
  const plot = plotOf([point(4, 20, 20), point(5, 19, 19), point(6, 19, 19), point(7, 18, 18)]);
  const names = places(plot, /class="name"\s+x="([\d.]+)"\s+y="([\d.]+)"/g);
  expect(names).toHaveLength(4);
  for (const [at, [x, y]] of names.entries()) {
    for (const [otherX, otherY] of names.slice(at + 1)) {
      expect(Math.abs(x - otherX) >= 22 || Math.abs(y - otherY) >= 12).toBe(true);
    }
  }
});

test('an axis is the shortest that holds every point with its interval, and says where it begins', () => {
  const high = plotOf([point(2, 700, 720), point(3, 500, 505)]);
  expect(high).toContain('>80 %</text>');
  expect(high).not.toContain('>20 %</text>');
  const low = plotOf([point(2, 700, 720), point(3, 10, 100)]);
  expect(low).toContain('>0 %</text>');
  const [first, second] = places(high, /<circle class="mark" cx="([\d.]+)" cy="([\d.]+)"/g);
  // More recall is farther right, more precision higher up.
  expect(first?.[0]).toBeGreaterThan(second?.[0] ?? Infinity);
  expect(first?.[1]).toBeGreaterThan(second?.[1] ?? Infinity);
});
