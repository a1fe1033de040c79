import { expect, test } from 'vitest';

import { bytesText, shareText } from './number-text.ts';

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
