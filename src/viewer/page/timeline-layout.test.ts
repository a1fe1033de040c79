import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { overviewOf } from '../../../test/support/overview-of.ts';
import type { PatternSpan } from '../server/api-shapes.ts';
import { columnsOf, fitWindow, packPatterns, zoomWindow } from './timeline-layout.ts';
import { recordScale } from './timeline-scale.ts';

function spanOf(fromSeq: number, toSeq: number | null, stuck: boolean): PatternSpan {
  return {
    kind: 'cycle',
    identity: `${fromSeq}`,
    level: 'warn',
    stuck,
    occurrences: 3,
    fromSeq,
    toSeq,
    flaggedSeq: fromSeq,
    fromCall: 0,
    toCall: null,
    flaggedCall: 0,
    evidence: [],
  };
}

describe('columns of the timeline', () => {
  test('count every call of the run once, at any width', () => {
    const lists = fc.array(fc.nat(9), { minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(
        lists,
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 50, max: 2_000 }),
        (calls, each, widthPx) => {
          const overview = overviewOf(calls, each);
          const columns = columnsOf(
            overview,
            { from: 0, to: overview.nextSeq },
            { widthPx, minPx: 3, scale: recordScale(overview) },
          );
          const total = calls.reduce((sum, count) => sum + count, 0);
          expect(columns.reduce((sum, column) => sum + column.calls, 0)).toBe(total);
          expect(columns.every((column) => column.width >= 2.99)).toBe(true);
        },
      ),
    );
  });

  test('keep their boundaries while the window moves', () => {
    const overview = overviewOf(
      Array.from({ length: 500 }, (_, at) => at),
      10,
    );
    const edges = (from: number): readonly number[] =>
      columnsOf(overview, { from, to: from + 2_000 }, { widthPx: 300, minPx: 3, scale: recordScale(overview) }).map(
        ({ x }) => Math.round((x * 2_000) / 300 + from),
      );
    const [one, other] = [edges(500), edges(517)];
    expect(other.slice(0, -5).every((edge) => one.includes(edge))).toBe(true);
  });
});

test('overlapping patterns get different rows while there is room, stuck ones on top', () => {
  const packed = packPatterns([spanOf(0, 10, false), spanOf(5, null, true), spanOf(20, 30, false)], 3);
  expect(packed.map(({ span, row }) => [span.fromSeq, row])).toEqual([
    [5, 0],
    [0, 1],
    [20, 1],
  ]);
});

test('zooming in and out stays within the run and keeps the place under the pointer', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 41, max: 100_000 }),
      fc.double({ min: 0.1, max: 4, noNaN: true }),
      (count, factor) => {
        const { from, to } = zoomWindow({ from: 0, to: count }, factor, {
          centre: count / 3,
          length: count,
          minLength: 40,
        });
        expect(from).toBeGreaterThanOrEqual(0);
        expect(to).toBeLessThanOrEqual(count + 1e-6);
        expect(from <= count / 3 && count / 3 <= to).toBe(true);
      },
    ),
  );
  expect(fitWindow({ from: -20, to: 80 }, 1_000)).toEqual({ from: 0, to: 100 });
});
