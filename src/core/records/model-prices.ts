import { type ModelPrice, type ModelPrices, modelNames } from './answer-cost.ts';

/** Context window (null: unknown), prices of input, output, cache read and write (null: not listed), most input at this price. */
type Row = readonly [number | null, number, number, (number | null)?, (number | null)?, number?];

interface Vendor {
  readonly source: string;
  /** The date on which the prices were last compared with the source. */
  readonly checked: string;
  /** See `ModelPrice.cached`. */
  readonly cached: 'within' | 'beside';
  /** Price of a cache write that is kept for an hour, as a multiple of the price of input. */
  readonly hourFactor?: number;
  readonly models: Readonly<Record<string, Row>>;
}

/** Prices in US dollars per million tokens, by vendor. The source is `@pydantic/genai-prices` 0.1.8; windows compared on 2026-11-28. */
const VENDORS: readonly Vendor[] = [
  {
    source: 'https://www.anthropic.com/pricing#api',
    checked: '2026-09-23',
    cached: 'beside',
    hourFactor: 2,
    models: {
      'claude-3-5-haiku': [200_000, 0.8, 4, 0.08, 1],
      'claude-3-5-sonnet': [200_000, 3, 15, 0.3, 3.75],
      'claude-3-7-sonnet': [200_000, 3, 15, 0.3, 3.75],
      'claude-fable-5': [1_000_000, 10, 50, 1, 12.5],
      'claude-fable-5-1': [1_000_000, 10, 50, 0.25, 12.5],
      'claude-haiku-4-5': [200_000, 1, 5, 0.1, 1.25],
      'claude-opus-4': [200_000, 15, 75, 1.5, 18.75],
      'claude-opus-4-0': [200_000, 15, 75, 1.5, 18.75],
      'claude-opus-4-1': [200_000, 15, 75, 1.5, 18.75],
      'claude-opus-4-5': [200_000, 5, 25, 0.5, 6.25],
      'claude-opus-4-6': [1_000_000, 5, 25, 0.5, 6.25],
      'claude-opus-4-7': [1_000_000, 5, 25, 0.5, 6.25],
      'claude-opus-4-8': [1_000_000, 5, 25, 0.5, 6.25],
      'claude-opus-5': [1_000_000, 5, 25, 0.5, 6.25],
      'claude-opus-5-5': [1_000_000, 4, 20, 0.2, 5],
      'claude-sonnet-4': [200_000, 3, 15, 0.3, 3.75],
      'claude-sonnet-4-0': [200_000, 3, 15, 0.3, 3.75],
      'claude-sonnet-4-5': [200_000, 3, 15, 0.3, 3.75, 200_000],
      'claude-sonnet-4-6': [1_000_000, 3, 15, 0.3, 3.75],
      'claude-sonnet-5': [1_000_000, 2, 10, 0.2, 2.5],
    },
  },
  {
    source: 'https://developers.openai.com/api/docs/pricing',
    checked: '2026-09-23',
    cached: 'within',
    models: {
      'codex-mini': [200_000, 1.5, 6, 0.375],
      'gpt-4.1': [1_000_000, 2, 8, 0.5],
      'gpt-4.1-mini': [1_000_000, 0.4, 1.6, 0.1],
      'gpt-4.1-nano': [1_000_000, 0.1, 0.4, 0.025],
      'gpt-4o': [128_000, 2.5, 10, 1.25],
      'gpt-4o-2024-05-13': [128_000, 5, 15],
      'gpt-4o-mini': [128_000, 0.15, 0.6, 0.075],
      'gpt-5': [400_000, 1.25, 10, 0.125],
      'gpt-5-codex': [null, 1.25, 10, 0.125],
      'gpt-5-mini': [400_000, 0.25, 2, 0.025],
      'gpt-5-nano': [400_000, 0.05, 0.4, 0.005],
      'gpt-5-pro': [400_000, 15, 120],
      'gpt-5.1': [400_000, 1.25, 10, 0.125],
      'gpt-5.1-codex': [null, 1.25, 10, 0.125],
      'gpt-5.1-codex-max': [null, 1.25, 10, 0.125],
      'gpt-5.1-codex-mini': [400_000, 0.25, 2, 0.025],
      'gpt-5.2': [400_000, 1.75, 14, 0.175],
      'gpt-5.2-codex': [null, 1.75, 14, 0.175],
      'gpt-5.3': [128_000, 1.75, 14, 0.175],
      'gpt-5.3-codex': [400_000, 1.75, 14, 0.175],
      'gpt-5.4': [1_050_000, 2.5, 15, 0.25, null, 271_999],
      'gpt-5.4-mini': [400_000, 0.75, 4.5, 0.075],
      'gpt-5.4-nano': [400_000, 0.2, 1.25, 0.02],
      'gpt-5.5': [1_000_000, 5, 30, 0.5, null, 271_999],
      'gpt-5.6': [null, 4, 20, 0.4, 5, 271_999],
      'gpt-5.6-luna': [1_050_000, 0.2, 1.2, 0.02, 0.25, 271_999],
      'gpt-5.6-sol': [1_050_000, 4, 20, 0.4, 5, 271_999],
      'gpt-5.6-terra': [1_050_000, 2, 12, 0.2, 2.5, 271_999],
      o1: [200_000, 15, 60, 7.5],
      o3: [200_000, 2, 8, 0.5],
      'o3-mini': [200_000, 1.1, 4.4, 0.55],
      'o4-mini': [200_000, 1.1, 4.4, 0.275],
    },
  },
  {
    source: 'https://ai.google.dev/gemini-api/docs/pricing',
    checked: '2026-09-23',
    cached: 'within',
    models: {
      'gemini-2.0-flash': [1_000_000, 0.1, 0.4, 0.025],
      'gemini-2.5-flash': [1_048_576, 0.3, 2.5, 0.03],
      'gemini-2.5-flash-lite': [1_000_000, 0.1, 0.4, 0.01],
      'gemini-2.5-pro': [null, 1.25, 10, 0.125, null, 200_000],
      'gemini-3-flash-preview': [1_048_576, 0.5, 3, 0.05],
      'gemini-3-pro-preview': [null, 2, 12, 0.2, null, 200_000],
      'gemini-3.1-flash-lite': [1_048_576, 0.25, 1.5, 0.025],
      'gemini-3.1-pro-preview': [1_048_576, 2, 12, 0.2, null, 200_000],
      'gemini-3.5-flash': [1_048_576, 1.5, 9, 0.15],
      'gemini-3.5-flash-lite': [1_048_576, 0.3, 2.5, 0.03],
      'gemini-3.6-flash': [1_048_576, 0.75, 3.75, 0.075],
      'gemini-3.7-flash': [1_048_576, 0.75, 3.75, 0.075],
      'gemini-3.8-flash': [1_000_000, 0.75, 3.75, 0.075],
    },
  },
];

export const MODEL_PRICES: ModelPrices = Object.fromEntries(
  VENDORS.flatMap(({ cached, checked, hourFactor, models, source }) =>
    Object.entries(models).map(
      ([name, [, input, output, cacheRead, cacheWrite, upToInputTokens]]): [string, ModelPrice] => [
        name,
        {
          input,
          output,
          ...(cacheRead == null ? {} : { cacheRead }),
          ...(cacheWrite == null ? {} : { cacheWrite }),
          ...(hourFactor === undefined ? {} : { cacheWriteHour: input * hourFactor }),
          ...(upToInputTokens === undefined ? {} : { upToInputTokens }),
          cached,
          source,
          checked,
        },
      ],
    ),
  ),
);

/** Returns the size of a model's context window in tokens. Undefined if it is unknown. Claude Code marks a window of a million. */
export function contextWindowOf(modelId: string): number | undefined {
  if (modelId.endsWith('[1m]')) return 1_000_000;
  for (const name of modelNames(modelId)) {
    for (const { models } of VENDORS) {
      const tokens = models[name]?.[0];
      if (tokens != null) return tokens;
    }
  }
  return undefined;
}
