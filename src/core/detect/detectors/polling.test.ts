import { expect, test } from 'vitest';
import { firstFlag, times, type ScriptedCall } from '../../../../test/support/scripted-run.ts';
import { pollingDetector } from './polling.ts';

const POLL: ScriptedCall = { tool: 'get_status', args: { id: 1 }, result: 'running' };

test('ten unchanged answers are flagged, nine are not', () => {
  expect(firstFlag(pollingDetector(), times(10, POLL))).toBe(9);
  expect(firstFlag(pollingDetector(), times(9, POLL))).toBeNull();
});

test('pauses in between do not count', () => {
  const wait: ScriptedCall = { tool: 'wait', args: { seconds: 30 } };
  expect(
    firstFlag(
      pollingDetector(),
      times(20, (at) => (at % 2 === 0 ? POLL : wait)),
    ),
  ).toBe(18);
});

test('fewer answers are enough over half an hour, unless the looks are so far apart that they are patience', () => {
  const every = (minutes: number): readonly ScriptedCall[] =>
    times(9, (at) => ({ ...POLL, atMs: 1_000_000 + at * minutes * 60_000 }));
  expect(firstFlag(pollingDetector(), every(4.5))).toBe(7);
  expect(firstFlag(pollingDetector(), every(10))).toBeNull();
});

test('legitimate runs that look similar are not flagged', () => {
  expect(
    firstFlag(
      pollingDetector(),
      times(30, (at) => ({ ...POLL, result: `running, ${at} %` })),
    ),
  ).toBeNull();
  const work = (at: number): ScriptedCall => ({ tool: 'read', args: { path: `${at}` }, result: `text ${at}` });
  const between = times(15, POLL).flatMap((call, at) => [call, work(2 * at), work(2 * at + 1)]);
  expect(firstFlag(pollingDetector(), between)).toBeNull();
});

test('a user who asks for the status each time is answered each time', () => {
  const calls = times(12, (): ScriptedCall => ({ ...POLL, userBefore: true }));
  expect(firstFlag(pollingDetector(), calls)).toBeNull();
});

test('a program that is silent for half a minute at each look is waited for, until half an hour has passed', () => {
  const look = (at: number): ScriptedCall => ({
    tool: 'write_stdin',
    args: { session_id: 7, chars: '' },
    result: `Chunk ID: 4a21d${at}\nWall time: 30.0 seconds\nProcess running with session ID 7\nOriginal token count: 0\nOutput:\n`,
    atMs: 1_750_000_000_000 + at * 35_000,
  });
  expect(firstFlag(pollingDetector(), times(40, look))).toBeNull();
  expect(firstFlag(pollingDetector(), times(60, look))).toBe(52);
});
