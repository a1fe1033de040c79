import { present } from '../base/json.ts';
import { countOf, countText, usdText } from '../base/number-text.ts';
import type { RunUsage } from './usage-fold.ts';

/** Cached tokens included: unlike `tokens`, comparable between vendors. Undefined if unknown. */
export function allTokens({ cacheTokens = 0, cacheTokensWithin = 0, tokens }: RunUsage): number | undefined {
  return tokens === undefined ? undefined : tokens + cacheTokens - cacheTokensWithin;
}

export function hasNoPrice({ answersWithoutCost, costUsd, tokens }: RunUsage): boolean {
  return answersWithoutCost !== undefined || (tokens !== undefined && costUsd === undefined);
}

/** Returns true if the known cost is not all of it. */
export function isLeast(usage: RunUsage): boolean {
  return usage.answersCountedEarly !== undefined || hasNoPrice(usage);
}

/** Returns the sum of the known costs, and whether it is not all of the cost. */
export function sumOfCosts(usages: readonly RunUsage[]): { readonly costUsd?: number; readonly isLeast: boolean } {
  const costs = usages.flatMap(({ costUsd }) => costUsd ?? []);
  const costUsd = costs.length === 0 ? undefined : costs.reduce((sum, cost) => sum + cost, 0);
  return { ...present({ costUsd }), isLeast: usages.some(isLeast) };
}

/** `at least $0.77` if the cost is not all of it. */
export function costText(costUsd: number, isPart: boolean): string {
  return `${isPart ? 'at least ' : ''}${usdText(costUsd)}`;
}

/** Formats all tokens, and those that were read from the cache: `12,345 tokens (900 of them cached)`, `at least 40 tokens`. */
export function tokenFacts(usage: RunUsage): readonly string[] {
  const { answersCountedEarly, cacheTokens = 0, cacheWriteTokens = 0 } = usage;
  const tokens = allTokens(usage);
  if (tokens === undefined) return [];
  const cached = cacheTokens - cacheWriteTokens;
  const cachedText = cached === 0 ? '' : ` (${countText(cached)} of them cached)`;
  return [`${answersCountedEarly === undefined ? '' : 'at least '}${countOf(tokens, 'token')}${cachedText}`];
}
