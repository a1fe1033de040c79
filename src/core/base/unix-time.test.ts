import { expect, test } from 'vitest';
import { readDeadlineTime, readEventTime } from './unix-time.ts';

const NOW = 1_790_000_000_000;

test.each<readonly [string, unknown, number, string | undefined]>([
  ['milliseconds', NOW - 5_000, NOW - 5_000, undefined],
  ['a clock that is a little ahead', NOW + 900, NOW + 900, undefined],
  ['none', undefined, NOW, undefined],
  ['seconds', NOW / 1_000, NOW, 'wrongUnits'],
  ['microseconds', NOW * 1_000, NOW, 'wrongUnits'],
  ['nanoseconds', NOW * 1_000_000, NOW, 'wrongUnits'],
  ['NaN', Number.NaN, NOW, 'badTimes'],
  ['Infinity', Infinity, NOW, 'badTimes'],
  ['a negative number', -1, NOW, 'badTimes'],
  ['a text', '2026-01-01', NOW, 'badTimes'],
  ['a day ahead', NOW + 86_400_000, NOW, 'farTimes'],
  ['milliseconds of a process', 12_345.6, NOW, 'farTimes'],
])('the time of an event that is given as %s', (_name, atMs, ms, fault) => {
  expect(readEventTime(atMs, NOW)).toMatchObject({ ms, ...(fault === undefined ? {} : { fault }) });
  expect(readEventTime(atMs, NOW).fault).toBe(fault);
});

test('a deadline may lie far away, but not in another unit', () => {
  expect(readDeadlineTime(NOW + 3_600_000, NOW)).toEqual({ ms: NOW + 3_600_000 });
  expect(readDeadlineTime((NOW + 3_600_000) * 1_000, NOW)).toMatchObject({ ms: NOW + 3_600_000, fault: 'wrongUnits' });
  expect(readDeadlineTime((NOW + 3_600_000) / 1_000, NOW)).toMatchObject({ ms: NOW + 3_600_000, fault: 'wrongUnits' });
});
