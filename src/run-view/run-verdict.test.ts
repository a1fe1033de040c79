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

test('a run without an end that has no record for hours is cut off, unless it waits for its user', () => {
  const hours = (count: number): { readonly silentMs: number } => ({ silentMs: count * 3_600_000 });
  expect(verdictOf(undefined, [], hours(5)).evidence).toBe('no answer yet: cut off, or still at work');
  expect(verdictOf(undefined, [], hours(8)).evidence).toBe('cut off: no record for 8.0 hours');
  expect(verdictOf(undefined, [], hours(24 * 90)).evidence).toBe('cut off: no record for 90 days');
  expect(verdictOf(undefined, [], { ...hours(8), waitsFor: 'waiting for permission' }).evidence).toBe(
    'waiting for permission',
  );
});
