import { countOf, countText } from '../base/number-text.ts';
import type { RunUsage } from './run-view.ts';

/** Cached tokens included: unlike `tokens`, comparable between vendors. Undefined if unknown. */
export function allTokens({ cacheTokens = 0, cacheTokensWithin = 0, tokens }: RunUsage): number | undefined {
  return tokens === undefined ? undefined : tokens + cacheTokens - cacheTokensWithin;
}

/** Formats tokens and cached tokens: `12,345 tokens`, `plus 900 cached`, or `12,345 tokens (900 of them cached)`. */
export function tokenFacts({ cacheTokens = 0, cacheTokensWithin = 0, tokens }: RunUsage): readonly string[] {
  const cachedText = cacheTokensWithin === 0 ? '' : ` (${countText(cacheTokensWithin)} of them cached)`;
  return [
    ...(tokens === undefined ? [] : [`${countOf(tokens, 'token')}${cachedText}`]),
    ...(cacheTokens > cacheTokensWithin ? [`plus ${countText(cacheTokens - cacheTokensWithin)} cached`] : []),
  ];
}
