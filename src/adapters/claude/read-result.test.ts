import { expect, test } from 'vitest';
import { readQueryResult, resultOfError } from './read-result.ts';

test.each([
  [{ subtype: 'success', is_error: false, terminal_reason: 'completed' }, 'ended'],
  [{ subtype: 'success', is_error: true, terminal_reason: 'api_error' }, 'error'],
  [{ subtype: 'error_max_turns', is_error: true, terminal_reason: 'max_turns' }, 'limit'],
  [{ subtype: 'error_max_budget_usd', is_error: true }, 'limit'],
  [{ subtype: 'error_during_execution', is_error: true, terminal_reason: 'aborted_tools' }, 'aborted'],
  [{ subtype: 'error_during_execution', is_error: true }, 'error'],
  [{ subtype: 'error_of_tomorrow' }, 'error'],
  [{}, 'ended'],
])('a result %j ends the run as %s', (message, outcome) => {
  expect(readQueryResult(message).outcome).toBe(outcome);
});

test('what a query cost is kept, added up over its models', () => {
  const model = {
    inputTokens: 100,
    outputTokens: 20,
    cacheReadInputTokens: 5,
    cacheCreationInputTokens: 1,
    costUSD: 1,
  };
  const message = {
    subtype: 'success',
    num_turns: 3,
    total_cost_usd: 0.25,
    result: 'the whole answer',
    modelUsage: { one: model, other: { ...model, outputTokens: 'many' }, broken: null },
  };
  expect(readQueryResult(message)).toEqual({
    outcome: 'ended',
    costUsd: 0.25,
    labels: {
      subtype: 'success',
      num_turns: 3,
      cost_usd: 0.25,
      input_tokens: 200,
      output_tokens: 20,
      cache_read_tokens: 10,
      cache_write_tokens: 2,
    },
  });
});

test('the reason of an error is kept, cut to 300 characters', () => {
  const { labels } = readQueryResult({ subtype: 'error_during_execution', errors: ['first', 'x'.repeat(400)] });
  expect(labels['error']).toBe(`first\n${'x'.repeat(294)}`);
});

test('what a query throws says how it ended, unless a result said so before', () => {
  const abort = new DOMException('stop', 'AbortError');
  expect(resultOfError(abort, undefined).outcome).toBe('aborted');
  expect(resultOfError(new Error('Claude Code process aborted by user'), undefined).outcome).toBe('aborted');
  expect(resultOfError(new Error('exited with code 1'), undefined)).toEqual({
    outcome: 'error',
    labels: { error: 'exited with code 1' },
  });
  const limit = { outcome: 'limit', labels: { subtype: 'error_max_turns' } };
  expect(resultOfError(new Error('an error result: …'), limit)).toBe(limit);
  const ended = { outcome: 'ended', labels: { subtype: 'success' } };
  expect(resultOfError('no error at all', ended)).toEqual({
    outcome: 'error',
    labels: { subtype: 'success', error: 'no error at all' },
  });
});
