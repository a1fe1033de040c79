import { expect, test } from 'vitest';

import { answerCost } from './answer-cost.ts';
import { MODEL_PRICES } from './model-prices.ts';

const M = 1_000_000;
const cost = (usage: Parameters<typeof answerCost>[0], model?: string): number | undefined =>
  answerCost(usage, model, MODEL_PRICES);

test('a cost that the host states stands, whatever the model', () => {
  expect(cost({ cost_usd: 0.25, input_tokens: M, output_tokens: 0 }, 'gpt-5')).toBe(0.25);
});

test('without it the price of the model counts, cached tokens as its vendor counts them', () => {
  expect(
    cost({ input_tokens: M, output_tokens: M, cache_read_tokens: M, cache_write_tokens: M }, 'claude-haiku-4-5'),
  ).toBeCloseTo(7.35);
  expect(cost({ input_tokens: M, output_tokens: M, cache_read_tokens: M / 2 }, 'gpt-5')).toBeCloseTo(
    0.625 + 0.0625 + 10,
  );
});

test('what a provider keeps for an hour has its own price', () => {
  const usage = { input_tokens: 0, output_tokens: 0, cache_write_tokens: M };
  expect(cost({ ...usage, cache_write_hour_tokens: M }, 'claude-opus-4-5')).toBe(10);
  expect(cost({ ...usage, cache_write_hour_tokens: M / 2 }, 'claude-opus-4-5')).toBe(8.125);
  const own = { own: { input: 1, output: 1, cacheWrite: 3, cached: 'beside' } } as const;
  expect(answerCost({ ...usage, cache_write_hour_tokens: M }, 'own', own)).toBe(3);
});

test.each([
  'claude-opus-4-5',
  'claude-opus-4-5-20251101',
  'anthropic/claude-opus-4.5',
  'claude-opus-4-5@20251101',
  'claude-opus-4-5[1m]',
])('%s is known by the name of its model', (model) => {
  expect(cost({ input_tokens: M, output_tokens: 0 }, model)).toBe(5);
});

test.each([
  ['the model is unknown', { input_tokens: 1, output_tokens: 1 }, 'gpt-99'],
  ['the model only begins like a known one', { input_tokens: 1, output_tokens: 1 }, 'gpt-5-turbo'],
  ['the model is unknown', { input_tokens: 1, output_tokens: 1 }, undefined],
  ['the answer does not count its output', { input_tokens: 1 }, 'gpt-5'],
  ['the request is longer than the price holds for', { input_tokens: 300_000, output_tokens: 1 }, 'gemini-2.5-pro'],
  [
    'the model has no price for cached tokens',
    { input_tokens: 9, output_tokens: 1, cache_read_tokens: 4 },
    'gpt-5-pro',
  ],
  ['more tokens are cached than there are', { input_tokens: 3, output_tokens: 1, cache_read_tokens: 4 }, 'gpt-5'],
  ['a member of every object is named', { input_tokens: 1, output_tokens: 1 }, 'toString'],
])('there is no cost where %s', (_, usage, model) => {
  expect(cost(usage, model)).toBeUndefined();
});

test('each built-in price names its source and the day on which it was checked', () => {
  const prices = Object.values(MODEL_PRICES);
  expect(prices.length).toBeGreaterThan(50);
  for (const { checked, source } of prices) {
    expect(source).toMatch(/^https:[/][/]/);
    expect(checked).toMatch(/^\d{4}-\d{2}-\d{2}$/);
  }
});
