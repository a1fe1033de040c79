import type { StoredUsage } from './stored-message.ts';

/** What a model costs, in US dollars for a million tokens. An answer with tokens of a kind that has no price has no known cost. Plain JSON. */
export interface ModelPrice {
  readonly input?: number;
  readonly output?: number;
  /** Tokens read from a cache, and written into one. */
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** Whether the input tokens of an answer hold those of the cache; default `within`. */
  readonly cached?: 'within' | 'beside';
  /** The price holds for requests of so many input tokens; the cost of longer ones is not known. */
  readonly upToInputTokens?: number;
  /** Where the price stands, and when it was compared with it. */
  readonly source?: string;
  readonly checked?: string;
}

/** Prices by the model's id, without a vendor in front and a date behind. */
export type ModelPrices = Readonly<Record<string, ModelPrice>>;

const PER_TOKENS = 1e6;

/**
 * What one answer of a model cost, in US dollars: as the host says, else by the prices.
 *
 * @returns undefined where the model has no price, or the answer does not count its tokens: a cost is never guessed
 */
export function answerCost(usage: StoredUsage, modelId: string | undefined, prices: ModelPrices): number | undefined {
  const {
    cache_read_tokens: read = 0,
    cache_write_tokens: write = 0,
    cost_usd: costUsd,
    input_tokens,
    output_tokens,
  } = usage;
  if (costUsd !== undefined) return costUsd;
  const price = modelId === undefined ? undefined : priceOf(modelId, prices);
  if (price === undefined || input_tokens === undefined || output_tokens === undefined) return undefined;
  const { cached = 'within', cacheRead, cacheWrite, input, output, upToInputTokens = Infinity } = price;
  const fresh = cached === 'within' ? input_tokens - read - write : input_tokens;
  if (fresh < 0 || fresh + read + write > upToInputTokens) return undefined;
  const parts = [
    [fresh, input],
    [read, cacheRead],
    [write, cacheWrite],
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

/** The price of a model: of the very id, else of the id without what names a vendor, a window, a day or the newest. */
function priceOf(modelId: string, prices: ModelPrices): ModelPrice | undefined {
  const id = modelId.replace(/^(?:anthropic|openai|google|models)[/]/, '').replace(/\[1m\]$/, '');
  const undated = id.replace(/[-@](?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/, '');
  // Sources write versions with a point or a dash.
  const dotted = undated.replace(/-(\d)-(\d)(?=-|$)/, '-$1.$2');
  const dashed = undated.replaceAll('.', '-');
  const name = [modelId, id, undated, dotted, dashed].find((one) => Object.hasOwn(prices, one));
  return name === undefined ? undefined : prices[name];
}
