import { expect, test } from 'vitest';
import { budgetRemaining, checkBudget } from './budget.ts';

test('what is left is the limit less the use, never below 0', () => {
  expect(budgetRemaining({ calls: 10, tokens: 100, costUsd: 2 }, { calls: 4, tokens: 130, costUsd: 0.5 })).toEqual({
    calls: 6,
    tokens: 0,
    costUsd: 1.5,
  });
});

test('a part without a limit or without known use is left out', () => {
  expect(budgetRemaining({ calls: 10, tokens: 100 }, { calls: 4, costUsd: 1 })).toEqual({ calls: 6 });
});

test('a limit that is no number from 0 is refused', () => {
  expect(() => checkBudget({ calls: 5, tokens: 0 })).not.toThrow();
  for (const limit of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(() => checkBudget({ tokens: limit })).toThrow(expect.objectContaining({ code: 'invalid-argument' }));
  }
});
