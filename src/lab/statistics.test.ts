import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { f1Of, quartilesOf, rateRatioOf, ratioOf, shareOf, type RunAtRisk } from './statistics.ts';

test('a share has the Wilson interval: one of ten is 1.8 to 40.4 per cent', () => {
  expect(shareOf(1, 10)).toEqual({ hits: 1, of: 10, share: 0.1, low: 0.017876, high: 0.40415 });
  expect(shareOf(10, 10)).toEqual({ hits: 10, of: 10, share: 1, low: 0.722467, high: 1 });
  expect(shareOf(0, 10)).toEqual({ hits: 0, of: 10, share: 0, low: 0, high: 0.277533 });
});

test('a share of nothing is not known', () => {
  expect(shareOf(0, 0)).toEqual({ hits: 0, of: 0, share: null, low: null, high: null });
  expect(f1Of(shareOf(0, 0), shareOf(0, 5))).toBeNull();
  expect(f1Of(shareOf(3, 4), shareOf(3, 6))).toBe(0.6);
});

test('an interval holds its share and is inside 0 and 1', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5_000 }), fc.nat(), (of, some) => {
      const { share, low, high } = shareOf(some % (of + 1), of);
      expect(low).toBeGreaterThanOrEqual(0);
      expect(high).toBeLessThanOrEqual(1);
      expect(low).toBeLessThanOrEqual(share ?? -1);
      expect(high).toBeGreaterThanOrEqual(share ?? 2);
    }),
  );
});

test('the interval of a ratio is never a point, and runs that are alike give that of as many runs', () => {
  const alike = Array.from({ length: 228 }, () => ({ part: 0, whole: 40 }));
  expect(ratioOf(alike)).toMatchObject({ share: 0, low: 0, high: shareOf(0, 228).high });
  // One run has nearly all of the calls.
  const { high } = ratioOf([...alike, { part: 0, whole: 1_000_000 }]);
  expect(high).toBeGreaterThan(0.7);
  expect(ratioOf(alike.map(({ whole }) => ({ part: whole, whole })))).toMatchObject({ share: 1, high: 1 });
  const run = fc.record({ whole: fc.integer({ min: 1, max: 50 }), left: fc.nat(50) });
  fc.assert(
    fc.property(fc.array(run, { minLength: 1, maxLength: 20 }), (some) => {
      const {
        low,
        high: most,
        share,
      } = ratioOf(some.map(({ left, whole }) => ({ part: Math.max(0, whole - left), whole })));
      expect((most ?? 0) - (low ?? 1)).toBeGreaterThan(0);
      expect(share).toBeGreaterThanOrEqual(low ?? 2);
      expect(share).toBeLessThanOrEqual(most ?? -1);
    }),
  );
});

test('quartiles interpolate, and the last bin takes the end', () => {
  expect(quartilesOf([1, 0, 0.5])).toEqual({ q1: 0.25, median: 0.5, q3: 0.75, bins: [1, 0, 0, 0, 0, 1, 0, 0, 0, 1] });
  expect(quartilesOf([])).toMatchObject({ q1: null, median: null, q3: null });
});

function runs(count: number, run: RunAtRisk): readonly RunAtRisk[] {
  return Array.from({ length: count }, () => run);
}

test('with one stratum the pooled ratio is the ratio of the two rates', () => {
  const all = [
    ...runs(6, { group: 'g', positive: true, calls: 5, firstCall: 2 }),
    ...runs(4, { group: 'g', positive: true, calls: 5, firstCall: null }),
    ...runs(2, { group: 'g', positive: false, calls: 5, firstCall: 2 }),
    ...runs(8, { group: 'g', positive: false, calls: 5, firstCall: null }),
  ];
  const { ratio, low, high, positiveEvents, negativeEvents } = rateRatioOf(all);
  expect(ratio).toBe(3);
  expect([positiveEvents, negativeEvents]).toEqual([6, 2]);
  // exp(ln 3 ± 1.96·√(1/6 − 1/10 + 1/2 − 1/10)), the usual interval of a risk ratio.
  expect(low).toBeCloseTo(3 / Math.exp(1.959964 * Math.sqrt(1 / 6 - 1 / 10 + 1 / 2 - 1 / 10)), 5);
  expect(high).toBeCloseTo(3 * Math.exp(1.959964 * Math.sqrt(1 / 6 - 1 / 10 + 1 / 2 - 1 / 10)), 5);
});

test('that failed runs are longer does not make a signal look good', () => {
  // It fires at call 9 of every run that gets there: a fifth of the good ones, all of the bad ones.
  const all = [
    ...runs(50, { group: 'g', positive: true, calls: 20, firstCall: 9 }),
    ...runs(10, { group: 'g', positive: false, calls: 20, firstCall: 9 }),
    ...runs(40, { group: 'g', positive: false, calls: 5, firstCall: null }),
  ];
  expect(rateRatioOf(all).ratio).toBe(1);
});

test('a run that has fired is no longer at risk', () => {
  const all = [
    ...runs(9, { group: 'g', positive: false, calls: 9, firstCall: 0 }),
    ...runs(1, { group: 'g', positive: false, calls: 9, firstCall: 5 }),
    ...runs(1, { group: 'g', positive: true, calls: 9, firstCall: 5 }),
    ...runs(9, { group: 'g', positive: true, calls: 9, firstCall: null }),
  ];
  // At call 5 one of ten positive and one of one negative fires; at call 0 nine of ten negative and no positive one.
  expect(rateRatioOf(all).ratio).toBeCloseTo((1 * 1) / 11 / ((9 * 10) / 20 + (1 * 10) / 11), 6);
});

test('without events on one side there is no ratio', () => {
  expect(rateRatioOf(runs(3, { group: 'g', positive: true, calls: 2, firstCall: 1 }))).toEqual({
    ratio: null,
    low: null,
    high: null,
    positiveEvents: 3,
    comparedRuns: 0,
    negativeEvents: 0,
  });
});

test('adding runs of another agent changes no figure at the same call, and the runs it can compare are counted', () => {
  // Both groups fire alike in failed and successful runs. One agent always fires and mostly fails.
  const careful = [
    ...runs(5, { group: 'careful', positive: true, calls: 9, firstCall: 4 }),
    ...runs(5, { group: 'careful', positive: true, calls: 9, firstCall: null }),
    ...runs(5, { group: 'careful', positive: false, calls: 9, firstCall: 4 }),
    ...runs(5, { group: 'careful', positive: false, calls: 9, firstCall: null }),
  ];
  const other = runs(40, { group: 'other', positive: true, calls: 9, firstCall: 4 });
  expect(rateRatioOf(careful)).toMatchObject({ ratio: 1, comparedRuns: 20 });
  expect(rateRatioOf([...careful, ...other])).toMatchObject({ ratio: 1, comparedRuns: 20 });
  const pooled = runs(40, { group: 'careful', positive: true, calls: 9, firstCall: 4 });
  expect(rateRatioOf([...careful, ...pooled]).ratio).toBeGreaterThan(1.5);
});
