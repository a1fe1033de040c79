import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { StretchCounts } from '../../core/base/stretch-counts.ts';
import { spanLine } from './run-blocks.ts';
import { stripOf, type StripText } from '../../core/facts/run-facts.ts';

function stripFor(failures: readonly boolean[]): StripText {
  const counts = new StretchCounts(60);
  for (const [index, failed] of failures.entries()) {
    counts.mark(index, false);
    if (failed) counts.mark(index, true);
  }
  return stripOf(counts);
}

test('a short run has a column per call', () => {
  expect(stripFor([false, true, false, false])).toEqual({ cells: '·×··', callsPerColumn: 1 });
  expect(stripFor([])).toEqual({ cells: '', callsPerColumn: 1 });
});

test('beyond 60 calls neighbours share a column, and a mixed column has its own mark', () => {
  const failures = Array.from({ length: 61 }, (_, index) => index < 3);
  const { cells, callsPerColumn } = stripFor(failures);
  expect(callsPerColumn).toBe(2);
  expect(cells).toBe(`×▪${'·'.repeat(29)}`);
});

test('a run of any length fits into 60 columns, and each column marks its failed calls', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 700 }), (failures) => {
      const { cells, callsPerColumn } = stripFor(failures);
      expect(cells.length).toBeLessThanOrEqual(60);
      expect(cells.length).toBe(Math.ceil(failures.length / callsPerColumn));
      for (const [column, cell] of cells.split('').entries()) {
        const part = failures.slice(column * callsPerColumn, (column + 1) * callsPerColumn);
        expect(cell).toBe(part.every(Boolean) ? '×' : part.some(Boolean) ? '▪' : '·');
      }
    }),
  );
});

test('a million calls cost no more than 60 columns', () => {
  const counts = new StretchCounts(60);
  for (let index = 0; index < 1_000_000; index += 1) counts.mark(index, index % 2 === 0);
  expect(stripOf(counts).cells).toBe('▪'.repeat(Math.ceil(1_000_000 / 32_768)));
});

test('a span covers the first to the last call and marks the flag', () => {
  const strip = stripFor(Array.from({ length: 12 }, () => false));
  expect(spanLine({ from: 2, to: 8, flaggedAt: 5 }, strip)).toBe('  ╶──▲──╴');
  expect(spanLine({ from: 2, to: 2, flaggedAt: 2 }, strip)).toBe('  ▲');
  expect(spanLine({ from: 2, to: 4, flaggedAt: null }, strip)).toBe('  ╶─╴');
});
