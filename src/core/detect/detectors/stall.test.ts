import { expect, test } from 'vitest';
import { firstFlag, times, type ScriptedCall } from '../../../../test/support/scripted-run.ts';
import { stallDetector } from './stall.ts';

const known = (at: number): ScriptedCall => ({ tool: 'read', args: { path: `${at % 3}` }, result: 'text' });

test('twenty calls without anything new are flagged', () => {
  expect(firstFlag(stallDetector(), times(23, known))).toBe(22);
  expect(firstFlag(stallDetector(), times(22, known))).toBeNull();
});

test('a quarter of an hour with three calls and nothing new is flagged', () => {
  const slow = times(8, (at) => ({ ...known(at), atMs: 1_000_000 + at * 200_000 }));
  // The third call is the last new one; 900 seconds later is between the seventh and the eighth.
  expect(firstFlag(stallDetector(), slow)).toBe(7);
  expect(firstFlag(stallDetector(), slow.slice(0, 7))).toBeNull();
});

test('new results, changes and polls are not a stall', () => {
  expect(
    firstFlag(
      stallDetector(),
      times(60, (at) => (at % 10 === 0 ? { ...known(0), result: `${at}` } : known(at))),
    ),
  ).toBeNull();
  const poll: ScriptedCall = { tool: 'get_status', args: {}, result: 'running' };
  expect(firstFlag(stallDetector(), times(60, poll))).toBeNull();
});
