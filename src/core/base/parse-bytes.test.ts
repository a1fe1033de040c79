import { expect, test } from 'vitest';
import * as fc from 'fast-check';
import { parseBytes } from './number-text.ts';

test('MB counts in thousands, MiB in 1,024s', () => {
  expect(parseBytes('500MB')).toBe(500_000_000);
  expect(parseBytes('2GB')).toBe(2_000_000_000);
  expect(parseBytes('2GiB')).toBe(2 * 1024 ** 3);
  expect(parseBytes('1.5 GB')).toBe(1_500_000_000);
  expect(parseBytes('3kB')).toBe(3_000);
  expect(parseBytes('1B')).toBe(1);
});

test.each(['', '2', 'GB', '0GB', '2gb', '2Gb', '-2GB', '1e9B', '2 GB ', '1.GB'])('the text %j is no size', (text) => {
  expect(parseBytes(text)).toBeUndefined();
});

test('whatever text comes, a size is a whole number from 1', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[0-9.]{0,6} ?[kKMGTiB]{0,3}$/), (text) => {
      const bytes = parseBytes(text);
      expect(bytes === undefined || (Number.isSafeInteger(bytes) && bytes >= 1)).toBe(true);
    }),
  );
});
