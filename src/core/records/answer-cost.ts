import { amount, choice, type ShapesOf, whole } from '../base/shape.ts';
import type { StoredUsage } from './agent-message.ts';

/** US dollars per million tokens. Without the price of a type of tokens, the cost of a response with them is unknown. */
export interface ModelPrice {
  readonly input?: number;
  readonly output?: number;
  /** Prices of tokens that are read from a cache and written to a cache. */
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** Price of tokens that are kept in a cache for an hour; default: `cacheWrite`. */
  readonly cacheWriteHour?: number;
  /** `within` (default): the input tokens include the cached tokens. `beside`: they do not. */
  readonly cached?: 'within' | 'beside';
  /** Maximum input tokens of a request at this price. The cost of a longer request is unknown. */
  readonly upToInputTokens?: number;
  /** URL of the price list, and the date on which it was checked. */
  readonly source?: string;
  readonly checked?: string;
}

/** Prices by model id. The id has no vendor prefix and no date suffix. */
export type ModelPrices = Readonly<Record<string, ModelPrice>>;

const MAX_AMOUNT = 1_000_000_000;

/** The prices that a user may give. */
export const PRICE_SHAPES: ShapesOf<Omit<ModelPrice, 'source' | 'checked'>> = {
  input: amount(0, MAX_AMOUNT),
  output: amount(0, MAX_AMOUNT),
  cacheRead: amount(0, MAX_AMOUNT),
  cacheWrite: amount(0, MAX_AMOUNT),
  cacheWriteHour: amount(0, MAX_AMOUNT),
  cached: choice<'within' | 'beside'>({ within: true, beside: true }, 'within'),
  upToInputTokens: whole(1, MAX_AMOUNT),
};

const PER_TOKENS = 1e6;

/** The host's cost, else from the prices. Undefined without a price or a count: a cost is never estimated. */
export function answerCost(usage: StoredUsage, modelId: string | undefined, prices: ModelPrices): number | undefined {
  const {
    cache_read_tokens: readTokens = 0,
    cache_write_tokens: write = 0,
    cache_write_hour_tokens: writeHour = 0,
    cost_usd: costUsd,
    input_tokens,
    output_tokens,
  } = usage;
  if (costUsd !== undefined) return costUsd;
  const price = modelId === undefined ? undefined : priceOf(modelId, prices);
  if (price === undefined || input_tokens === undefined || output_tokens === undefined) return undefined;
  const {
    cached = 'within',
    cacheRead,
    cacheWrite,
    cacheWriteHour = cacheWrite,
    input,
    output,
    upToInputTokens = Infinity,
  } = price;
  const freshTokens = cached === 'within' ? input_tokens - readTokens - write : input_tokens;
  if (freshTokens < 0 || writeHour > write || freshTokens + readTokens + write > upToInputTokens) return undefined;
  const parts = [
    [freshTokens, input],
    [readTokens, cacheRead],
    [write - writeHour, cacheWrite],
    [writeHour, cacheWriteHour],
    [output_tokens, output],
  ] as const;
  let cost = 0;
  for (const [tokens, each] of parts) {
    if (tokens === 0) continue;
    if (each === undefined) return undefined;
    cost += tokens * each;
  }
  return cost / PER_TOKENS;
}

/** If there are more of them than input tokens, or if the prices of the model say so. */
export function countsCacheBeside(usage: StoredUsage, modelId: string | undefined, prices: ModelPrices): boolean {
  const { cache_read_tokens: read = 0, cache_write_tokens: write = 0, input_tokens: input = 0 } = usage;
  return read + write > input || (modelId !== undefined && isPricedBeside(modelId, prices));
}

export function isPricedBeside(modelId: string, prices: ModelPrices): boolean {
  return priceOf(modelId, prices)?.cached === 'beside';
}

function priceOf(modelId: string, prices: ModelPrices): ModelPrice | undefined {
  const name = modelNames(modelId).find((one) => Object.hasOwn(prices, one));
  return name === undefined ? undefined : prices[name];
}

/** Returns the names under which a table may have a model: the exact id, then the id without vendor, context window, date and `latest`. */
export function modelNames(modelId: string): readonly string[] {
  if (lastNames[0] === modelId) return lastNames;
  const id = modelId.replace(/^(?:anthropic|openai|google|models)[/]/, '').replace(/\[1m\]$/, '');
  const undatedId = id.replace(/[-@](?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/, '');
  // Some sources write versions with a dot, others with a dash.
  const dottedId = undatedId.replace(/-(\d)-(\d)(?=-|$)/, '-$1.$2');
  const dashedId = undatedId.replaceAll('.', '-');
  lastNames = [modelId, id, undatedId, dottedId, dashedId];
  return lastNames;
}

/** Each answer asks for the same model several times. */
let lastNames: readonly string[] = [];
