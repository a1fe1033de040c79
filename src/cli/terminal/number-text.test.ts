import { expect, test } from 'vitest';

import { bytesText, countOf, countText, durationText, shareText } from './number-text.ts';

test('counts have their thousands apart and the word that fits', () => {
  expect([0, 999, 1000, 1234567].map(countText)).toEqual(['0', '999', '1,000', '1,234,567']);
  expect([countOf(1, 'call'), countOf(0, 'call')]).toEqual(['1 call', '0 calls']);
});

test.each([
  [0, '0 ms'],
  [999, '999 ms'],
  [1000, '1 second'],
  [90_000, '90 seconds'],
  [119_999, '119 seconds'],
  [120_000, '2 minutes'],
  [3_599_000, '59 minutes'],
  [3_600_000, '1.0 hours'],
  [5_400_000, '1.5 hours'],
  [7_199_999, '1.9 hours'],
])('%d ms reads %s', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});

test('shares keep a digit where they are small, and nothing of nothing is no share', () => {
  expect([
    shareText(1, 10_000),
    shareText(1, 1000),
    shareText(31, 100),
    shareText(0, 5),
    shareText(5, 5),
    shareText(0, 0),
  ]).toEqual(['<0.1 %', '0.1 %', '31 %', '0 %', '100 %', '0 %']);
});

test('bytes come in the unit that fits', () => {
  expect([0, 999, 1000, 3_449_000, 2_000_000_000].map(bytesText)).toEqual([
    '0 B',
    '999 B',
    '1.0 kB',
    '3.4 MB',
    '2.0 GB',
  ]);
});
