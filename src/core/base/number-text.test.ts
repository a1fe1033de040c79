import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  bytesText,
  countOf,
  countText,
  durationText,
  rangeText,
  roundedDurationText,
  shareText,
} from './number-text.ts';

test('counts have their thousands apart and the word that fits', () => {
  expect([0, 999, 1000, 1234567].map(countText)).toEqual(['0', '999', '1,000', '1,234,567']);
  expect([countOf(1, 'call'), countOf(0, 'call'), countOf(2, 'entry', 'entries')]).toEqual([
    '1 call',
    '0 calls',
    '2 entries',
  ]);
});

test.each([
  [-5_000, '0 ms'],
  [999, '999 ms'],
  [1_000, '1 second'],
  [1_999, '1 second'],
  [90_000, '90 seconds'],
  [119_999, '119 seconds'],
  [120_000, '2 minutes'],
  [8 * 60_000 + 59_999, '8 minutes'],
  [3_599_999, '59 minutes'],
  [3_600_000, '1.0 hours'],
  [5_759_999, '1.5 hours'],
  [7_199_999, '1.9 hours'],
])('%d ms are "%s"', (durationMs, text) => {
  expect(durationText(durationMs)).toBe(text);
});

test('a rounded time is the nearest', () => {
  expect([400, 1_600, 119_600, 479_000, 3_590_000, 8_400_000].map(roundedDurationText)).toEqual([
    '400 ms',
    '2 seconds',
    '2 minutes',
    '8 minutes',
    '1.0 hours',
    '2.3 hours',
  ]);
});

test('the text never says more than what is left, and never less than it by more than a unit', () => {
  const unitMs = { ms: 1, second: 1_000, seconds: 1_000, minutes: 60_000, hours: 3_600_000 };
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10 ** 9 }), (durationMs) => {
      const [count, unit] = durationText(durationMs).split(' ');
      // The words of `durationText` are the keys of this table.
      const saidMs = Number(count) * unitMs[unit as keyof typeof unitMs];
      expect(Math.round(saidMs)).toBeLessThanOrEqual(durationMs);
      const stepMs = unit === 'hours' ? 360_000 : unitMs[unit as keyof typeof unitMs];
      expect(durationMs - Math.round(saidMs)).toBeLessThan(stepMs);
    }),
  );
});

test('small shares keep a decimal, and zero of zero is unknown', () => {
  expect([
    shareText(1, 10_000),
    shareText(1, 1000),
    shareText(31, 100),
    shareText(0, 5),
    shareText(5, 5),
    shareText(0, 0),
  ]).toEqual(['<0.1 %', '0.1 %', '31 %', '0 %', '100 %', '–']);
});

test('a size is given in the largest fitting unit', () => {
  expect([0, 999, 1000, 3_449_000, 2_000_000_000].map(bytesText)).toEqual([
    '0 B',
    '999 B',
    '1.0 kB',
    '3.4 MB',
    '2.0 GB',
  ]);
});

test('a share has its interval behind it', () => {
  expect(rangeText({ share: 0.25, low: 0.089, high: 0.53 })).toBe('25 % (8.9–53 %)');
  expect(rangeText({ share: null, low: null, high: null })).toBe('–');
  // Quartiles may be equal.
  expect(rangeText({ share: 0.25, low: 0.25, high: 0.25 })).toBe('25 % (25–25 %)');
});

test('an interval has enough digits to be one', () => {
  const texts = [
    { share: 0, low: 0, high: 0.000427 },
    { share: 0, low: 0, high: 0.017 },
    { share: 1, low: 0.9987, high: 1 },
    { share: 0.9996, low: 0.9992, high: 0.9998 },
    { share: 0.1234, low: 0.1228, high: 0.1239 },
  ].map(rangeText);
  expect(texts).toEqual([
    '0 % (0–0.04 %)',
    '0 % (0–1.7 %)',
    '100 % (99.9–100 %)',
    '100.0 % (99.9–100.0 %)',
    '12.3 % (12.3–12.4 %)',
  ]);
  const part = fc.integer({ min: 0, max: 1_000_000 }).map((one) => one / 1_000_000);
  fc.assert(
    fc.property(part, part, part, (...parts) => {
      const [low = 0, share = 0, high = 0] = parts.toSorted((a, b) => a - b);
      const [, from = '', to = ''] = /\((.*)–(.*) %\)$/.exec(rangeText({ share, low, high })) ?? [];
      expect(from === to).toBe(low === high);
      expect(to === '0').toBe(high === 0);
    }),
  );
});
