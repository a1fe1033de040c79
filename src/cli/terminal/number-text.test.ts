import { expect, test } from 'vitest';

import { bytesText, shareText } from './number-text.ts';

test('small shares keep a decimal, and zero of zero is 0 %', () => {
  expect([
    shareText(1, 10_000),
    shareText(1, 1000),
    shareText(31, 100),
    shareText(0, 5),
    shareText(5, 5),
    shareText(0, 0),
  ]).toEqual(['<0.1 %', '0.1 %', '31 %', '0 %', '100 %', '0 %']);
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
