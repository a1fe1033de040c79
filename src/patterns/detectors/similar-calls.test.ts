import { expect, test } from 'vitest';
import { firstFlag, scriptedRun, times, type ScriptedCall } from '../../../test/support/scripted-run.ts';
import { similarCallsDetector } from './similar-calls.ts';

const WORDS = 'list every open order of the customer in the north region with status late and its price'.split(' ');
/** One word of seventeen is another one each time. */
const near = (at: number): ScriptedCall => ({
  tool: 'search',
  args: { q: `${WORDS.join(' ')} limit${at}` },
  result: 'the same three rows',
});

test('the fourth nearly equal call with the same answer is flagged, the third is not', () => {
  expect(firstFlag(similarCallsDetector(), times(4, near))).toBe(3);
  expect(firstFlag(similarCallsDetector(), times(3, near))).toBeNull();
});

test('the threshold decides: 0.85 flags what 0.99 leaves', () => {
  expect(firstFlag(similarCallsDetector({ similarityThreshold: 0.85 }), times(6, near))).toBe(3);
  expect(firstFlag(similarCallsDetector({ similarityThreshold: 0.99 }), times(6, near))).toBeNull();
});

test('a window of one call compares nothing and stays small', () => {
  const fold = similarCallsDetector({ windowSize: 1 }).start();
  const { analysis } = scriptedRun(times(20, near), { detectors: [{ name: 'one', start: () => fold }] });
  expect(analysis.patterns()).toEqual([]);
  expect(fold.snapshot()).toHaveLength(1);
});

test('legitimate twins are left alone', () => {
  expect(
    firstFlag(
      similarCallsDetector(),
      times(8, (at) => ({ ...near(at), result: `page ${at} of the rows` })),
    ),
  ).toBeNull();
  expect(
    firstFlag(
      similarCallsDetector(),
      times(8, (at) => ({ ...near(at), turn: 0 })),
    ),
  ).toBeNull();
  expect(
    firstFlag(
      similarCallsDetector(),
      times(8, (at) => ({ ...near(at), userBefore: true })),
    ),
  ).toBeNull();
  const far = (at: number): ScriptedCall => ({ ...near(at), args: { q: `w${at} x${at} y${at}` } });
  expect(firstFlag(similarCallsDetector(), times(8, far))).toBeNull();
});

test('asking for ever more of the same and getting the same is flagged one call later', () => {
  const amounts = [5, 10, 50, 100, 500];
  const more = (at: number): ScriptedCall => ({
    tool: 'query',
    args: { sql: `SELECT id, at FROM crashes WHERE os = 'ios' ORDER BY at LIMIT ${amounts[at] ?? 0}` },
    result: 'the same four rows',
  });
  expect(firstFlag(similarCallsDetector(), times(4, more))).toBeNull();
  expect(firstFlag(similarCallsDetector(), times(5, more))).toBe(4);
  const marks = ['"', "'", '`', '|'];
  const quoted = (at: number): ScriptedCall => ({ ...more(0), args: { sql: `${marks[at] ?? ''}crashes LIMIT 5` } });
  expect(firstFlag(similarCallsDetector(), times(4, quoted))).toBe(3);
});
