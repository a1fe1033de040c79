import { expect, test } from 'vitest';

import { verdictOf, type LastCheck } from './run-verdict.ts';

const passed: LastCheck = { command: 'npm test', number: 4, failed: false };
const failed: LastCheck = { command: 'tsc', number: 3, failed: true };
const answered = { outcome: 'ended', reason: 'answered' };

test('what the source says goes before everything else', () => {
  expect(verdictOf({ ...answered, success: false }, [passed]).verdict).toBe('failed');
  expect(verdictOf({ outcome: 'limit', success: true }, []).verdict).toBe('worked');
});

test('a run that died before it answered failed, with the reason', () => {
  const labels = { error: '529 Overloaded' };
  expect(verdictOf({ outcome: 'error', reason: 'overloaded', labels }, [passed])).toEqual({
    verdict: 'failed',
    evidence: 'model overloaded: 529 Overloaded',
  });
  expect(verdictOf({ outcome: 'aborted' }, []).verdict).toBe('failed');
});

test('an answer alone does not say that a run worked', () => {
  expect(verdictOf(answered, []).verdict).toBe('unknown');
  expect(verdictOf(answered, [passed]).verdict).toBe('worked');
  // The failed check need not be the last check of the run.
  expect(verdictOf(answered, [failed, passed])).toEqual({
    verdict: 'unknown',
    evidence: 'a check (call 3, tsc) failed and did not pass later',
  });
  expect(verdictOf({ outcome: 'ended' }, [passed]).verdict).toBe('unknown');
  expect(verdictOf(undefined, [passed]).verdict).toBe('unknown');
});

test('a run without an end that has no record for six hours was cut off and failed, unless it waits for its user', () => {
  const after = (hours: number, waitsFor = ''): readonly string[] =>
    Object.values(verdictOf(undefined, [passed], { silentMs: hours * 3_600_000, waitsFor }));
  expect(after(5)).toEqual(['unknown', 'no answer yet: cut off, or still at work']);
  expect(after(8)).toEqual(['failed', 'cut off: no record for 8.0 hours']);
  expect(after(24 * 90)).toEqual(['failed', 'cut off: no record for 90 days']);
  expect(after(8, 'waiting for permission')).toEqual(['unknown', 'waiting for permission']);
  expect(verdictOf(undefined, []).evidence).toBe('nothing says how it ended');
});
