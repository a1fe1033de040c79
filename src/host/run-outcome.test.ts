import { expect, test } from 'vitest';
import { recordedRun } from '../../test/support/recorded-run.ts';
import { followed, outcomeOf } from './run-outcome.ts';

class APIUserAbortError extends Error {}
class MaxTurnsExceededError extends Error {}

test('an abort is told by the name or class of its error, or by the words of the openai package', () => {
  expect(outcomeOf(new DOMException('stop', 'AbortError'))).toBe('aborted');
  expect(outcomeOf(new APIUserAbortError('x'))).toBe('aborted');
  expect(outcomeOf(new Error('Request was aborted.'))).toBe('aborted');
});

test('a limit is told by the class of its error; anything else is an error', () => {
  expect(outcomeOf(new MaxTurnsExceededError('x'))).toBe('limit');
  expect(outcomeOf(new Error('500'))).toBe('error');
  expect(outcomeOf('a text that was thrown')).toBe('error');
});

test('work that fails ends the run and throws what it threw; work that succeeds leaves it open', async () => {
  const { run, told } = recordedRun();
  expect(await followed(run, Promise.resolve(7))).toBe(7);
  expect(run.isEnded).toBe(false);
  const error = new MaxTurnsExceededError('too many');
  await expect(followed(run, Promise.reject(error))).rejects.toBe(error);
  expect(await told('run_ended')).toMatchObject([{ outcome: 'limit', labels: { error: 'too many' } }]);
});
