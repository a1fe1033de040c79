import { expect, test } from 'vitest';
import { firstFlag, times, type ScriptedCall } from '../../../../test/support/scripted-run.ts';
import { sequentialCallsDetector } from './sequential-calls.ts';

const read = (at: number): ScriptedCall => ({ tool: 'read', args: { path: `f${at}` }, result: `text ${at}` });

test('eight turns of one read each are flagged when the ninth begins', () => {
  expect(firstFlag(sequentialCallsDetector(), times(9, read))).toBe(8);
  expect(firstFlag(sequentialCallsDetector(), times(8, read))).toBeNull();
});

test('reads that were issued together are not flagged', () => {
  expect(
    firstFlag(
      sequentialCallsDetector(),
      times(30, (at) => ({ ...read(at), turn: Math.floor(at / 2) })),
    ),
  ).toBeNull();
});

test('other work resets the count', () => {
  const calls = times(30, (at) => (at % 5 === 4 ? { tool: 'write', args: { path: 'f', content: `${at}` } } : read(at)));
  expect(firstFlag(sequentialCallsDetector(), calls)).toBeNull();
});
