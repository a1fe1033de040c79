import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { RowHeights } from './row-heights.ts';

describe('heights of rows', () => {
  test('are the sums of set heights and estimates, in any order', () => {
    const change = fc.record({ row: fc.nat(199), px: fc.integer({ min: 0, max: 500 }) });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), fc.array(change), fc.nat(20_000), (count, changes, px) => {
        const heights = new RowHeights(count, 40);
        const plain = Array.from({ length: count }, () => 40);
        for (const { row, px: height } of changes) {
          heights.setHeight(row, height);
          if (row < count) plain[row] = height;
        }
        const total = plain.reduce((sum, height) => sum + height, 0);
        expect(heights.total).toBeCloseTo(total, 6);
        const at = heights.rowAt(px);
        const top = plain.slice(0, at).reduce((sum, height) => sum + height, 0);
        expect(heights.topOf(at)).toBeCloseTo(top, 6);
        expect(top <= px && (px >= total || top + (plain[at] ?? 0) > px)).toBe(true);
      }),
    );
  });

  test('keep measured heights when rows are added', () => {
    const heights = new RowHeights(10, 40);
    heights.setHeight(3, 100);
    heights.resize(5_000);
    expect(heights.topOf(4)).toBe(220);
    expect(heights.total).toBe(5_000 * 40 + 60);
    expect([heights.isKnown(3), heights.isKnown(4)]).toEqual([true, false]);
  });

  test('are guessed until they are measured', () => {
    const heights = new RowHeights(10, 40);
    heights.setGuess(2, 100);
    expect([heights.heightOf(2), heights.isKnown(2), heights.isGuessed(2)]).toEqual([100, false, true]);
    heights.setHeight(2, 80);
    heights.setGuess(2, 100);
    expect([heights.heightOf(2), heights.isKnown(2)]).toEqual([80, true]);
    heights.resetHeight(2);
    expect([heights.heightOf(2), heights.isGuessed(2)]).toEqual([40, false]);
  });

  test('of a million rows stay below the limit of browsers', () => {
    expect(new RowHeights(1_000_000, 40).total).toBeLessThanOrEqual(30_000_000);
  });
});
