import { expect, test } from 'vitest';
import { sourceUsage } from './source-content.ts';

test('reasoning tokens are read from every form that sources have for them', () => {
  expect(sourceUsage({ completion_tokens: 9, completion_tokens_details: { reasoning_tokens: 4 } })).toEqual({
    output_tokens: 9,
    reasoning_tokens: 4,
  });
  const responses = {
    input_tokens: 7,
    input_tokens_details: { cached_tokens: 2 },
    output_tokens: 3,
    output_tokens_details: { reasoning_tokens: 1 },
  };
  expect(sourceUsage(responses)).toEqual({
    input_tokens: 7,
    output_tokens: 3,
    cache_read_tokens: 2,
    reasoning_tokens: 1,
  });
  expect(sourceUsage({ output_tokens: 3, reasoning_output_tokens: 1 })).toMatchObject({ reasoning_tokens: 1 });
});

test('cached tokens count as the provider of the model counts them, whoever wrote the usage', () => {
  const usage = { prompt_tokens: 900, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 500 } };
  expect(sourceUsage(usage, 'gpt-5')?.input_tokens).toBe(900);
  expect(sourceUsage(usage, 'anthropic/claude-sonnet-4-5')?.input_tokens).toBe(400);
  expect(sourceUsage(usage, 'unknown')?.input_tokens).toBe(900);
  const own = { input_tokens: 900, output_tokens: 1, cache_read_input_tokens: 500 };
  expect(sourceUsage(own, 'claude-sonnet-4-5')?.input_tokens).toBe(900);
});
