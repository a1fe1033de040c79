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
