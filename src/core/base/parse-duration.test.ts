import { expect, test } from 'vitest';
import * as fc from 'fast-check';
import { parseDuration } from './number-text.ts';

test('a duration is the sum of its parts', () => {
  expect(parseDuration('90s')).toBe(90_000);
  expect(parseDuration('45m')).toBe(45 * 60_000);
  expect(parseDuration('1h30m')).toBe(90 * 60_000);
  expect(parseDuration('2w')).toBe(14 * 86_400_000);
  expect(parseDuration('1w2d3h4m5s')).toBe(((7 + 2) * 86_400 + 3 * 3_600 + 4 * 60 + 5) * 1_000);
});

test.each(['', '0s', '0h0m', '45', 'm', '45 m', '1.5h', '30m1h', '1h1h', '-5m', '45M', '1234567s', '45m\n'])(
  'the text %j is no duration',
  (text) => {
    expect(parseDuration(text)).toBeUndefined();
  },
);

test('whatever text comes, a duration is above 0 and finite', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[0-9wdhms]{0,12}$/)), (text) => {
      const durationMs = parseDuration(text);
      expect(durationMs === undefined || (durationMs > 0 && Number.isSafeInteger(durationMs))).toBe(true);
    }),
  );
});
