import { expect, test } from 'vitest';
import { recordedRun } from '../../../test/support/recorded-run.ts';
import { abortedBy, endingAfterTrouble, followed, troubleOf } from './run-outcome.ts';

class APIUserAbortError extends Error {}
class MaxTurnsExceededError extends Error {}

test('an abort is recognised by the name or class of its error, or by the message of the openai package', () => {
  expect(troubleOf(new DOMException('stop', 'AbortError')).outcome).toBe('aborted');
  expect(troubleOf(new APIUserAbortError('x')).outcome).toBe('aborted');
  expect(troubleOf(new Error('Request was aborted.')).outcome).toBe('aborted');
});

test('a time limit is no stop by a person, and an abort by the program names no person', () => {
  const late = new DOMException('The operation was aborted due to timeout', 'TimeoutError');
  const timedOut = { outcome: 'aborted', reason: 'timeout', labels: { error: late.message } };
  expect(endingAfterTrouble(troubleOf(late))).toEqual(timedOut);
  expect(endingAfterTrouble(abortedBy(AbortSignal.abort(late)))).toEqual(timedOut);
  expect(endingAfterTrouble(troubleOf(new DOMException('stop', 'AbortError')))).toEqual({ outcome: 'aborted' });
  expect(endingAfterTrouble(abortedBy(AbortSignal.abort()))).toEqual({ outcome: 'aborted' });
});

test('a limit is recognised by the class of its error; anything else is an error', () => {
  expect(troubleOf(new MaxTurnsExceededError('x')).outcome).toBe('limit');
  expect(troubleOf(new Error('500')).outcome).toBe('error');
  expect(troubleOf('a text that was thrown').outcome).toBe('error');
});

test('work that fails ends the run and rethrows; work that succeeds leaves it open', async () => {
  const { run, recorded } = recordedRun();
  expect(await followed(run, Promise.resolve(7))).toBe(7);
  expect(run.isEnded).toBe(false);
  const error = new MaxTurnsExceededError('too many');
  await expect(followed(run, Promise.reject(error))).rejects.toBe(error);
  expect(await recorded('run_ended')).toMatchObject([
    { outcome: 'limit', reason: 'turn_limit', labels: { error: 'too many' } },
  ]);
});
