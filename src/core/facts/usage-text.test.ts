import { expect, test } from 'vitest';

import { allTokens, isLeast, tokenFacts } from './usage-text.ts';

test('all tokens are counted for every vendor, with those that were read from the cache', () => {
  const cached = '2,100 tokens (900 of them cached)';
  expect(tokenFacts({ tokens: 2_100, cacheTokens: 900, cacheTokensWithin: 900 })).toEqual([cached]);
  expect(tokenFacts({ tokens: 1_200, cacheTokens: 900 })).toEqual([cached]);
  expect(tokenFacts({ tokens: 1_000, cacheTokens: 1_100, cacheWriteTokens: 200 })).toEqual([cached]);
  expect(tokenFacts({ cacheTokens: 900 })).toEqual([]);
});

test('tokens and costs of answers that were counted before their end are the least', () => {
  const early = { tokens: 40, costUsd: 0.1, answersCountedEarly: 2 };
  expect(tokenFacts(early)).toEqual(['at least 40 tokens']);
  expect([early, { tokens: 40 }, { tokens: 40, costUsd: 0.1 }].map(isLeast)).toEqual([true, true, false]);
});

test('all tokens count each cached token once', () => {
  expect(allTokens({ tokens: 1_200, cacheTokens: 900, cacheTokensWithin: 300 })).toBe(1_800);
  expect(allTokens({ cacheTokens: 900 })).toBeUndefined();
});
