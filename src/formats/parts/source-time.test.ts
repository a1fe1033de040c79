import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { sourceTimeMs } from './source-content.ts';

test.each([
  ['2025-04-30T16:45:41.913899', Date.UTC(2025, 3, 30, 16, 45, 41, 913)],
  ['2025-04-30 16:45:41', Date.UTC(2025, 3, 30, 16, 45, 41)],
  ['2025-05-12T20:27:36-04:00', Date.UTC(2025, 4, 13, 0, 27, 36)],
  ['2025-05-12T20:27:36Z', Date.UTC(2025, 4, 12, 20, 27, 36)],
  [1775803413.5, 1775803413500],
  [1775803413500, 1775803413500],
  ['soon', undefined],
  ['2025-99-99T00:00:00', undefined],
  [0, undefined],
  [Number.NaN, undefined],
  [null, undefined],
])('%s is read as %s', (value, expected) => {
  expect(sourceTimeMs(value)).toBe(expected);
});

test('what is no time is undefined, never NaN', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(sourceTimeMs(value)).not.toBeNaN();
    }),
  );
});
