import { type ModelPrice, type ModelPrices, modelNames } from './answer-cost.ts';

/** The prices of input, output, cache read and cache write (null: not listed), and the maximum input tokens at this price. */
type Row = readonly [number, number, (number | null)?, (number | null)?, number?];

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

/** Prices in US dollars per million tokens, by vendor. The source is `@pydantic/genai-prices` 0.1.8. */
const VENDORS: readonly Vendor[] = [
  {
    source: 'https://www.anthropic.com/pricing#api',
    checked: '2026-09-23',
    cached: 'beside',
    hourFactor: 2,
    models: {
      'claude-3-5-haiku': [0.8, 4, 0.08, 1],
      'claude-3-5-sonnet': [3, 15, 0.3, 3.75],
      'claude-3-7-sonnet': [3, 15, 0.3, 3.75],
      'claude-fable-5': [10, 50, 1, 12.5],
      'claude-fable-5-1': [10, 50, 0.25, 12.5],
      'claude-haiku-4-5': [1, 5, 0.1, 1.25],
      'claude-opus-4': [15, 75, 1.5, 18.75],
      'claude-opus-4-0': [15, 75, 1.5, 18.75],
      'claude-opus-4-1': [15, 75, 1.5, 18.75],
      'claude-opus-4-5': [5, 25, 0.5, 6.25],
      'claude-opus-4-6': [5, 25, 0.5, 6.25],
      'claude-opus-4-7': [5, 25, 0.5, 6.25],
      'claude-opus-4-8': [5, 25, 0.5, 6.25],
      'claude-opus-5': [5, 25, 0.5, 6.25],
      'claude-opus-5-5': [4, 20, 0.2, 5],
      'claude-sonnet-4': [3, 15, 0.3, 3.75],
      'claude-sonnet-4-0': [3, 15, 0.3, 3.75],
      'claude-sonnet-4-5': [3, 15, 0.3, 3.75, 200_000],
      'claude-sonnet-4-6': [3, 15, 0.3, 3.75],
      'claude-sonnet-5': [2, 10, 0.2, 2.5],
    },
  },
  {
    source: 'https://developers.openai.com/api/docs/pricing',
    checked: '2026-09-23',
    cached: 'within',
    models: {
      'codex-mini': [1.5, 6, 0.375],
      'gpt-4.1': [2, 8, 0.5],
      'gpt-4.1-mini': [0.4, 1.6, 0.1],
      'gpt-4.1-nano': [0.1, 0.4, 0.025],
      'gpt-4o': [2.5, 10, 1.25],
      'gpt-4o-2024-05-13': [5, 15],
      'gpt-4o-mini': [0.15, 0.6, 0.075],
      'gpt-5': [1.25, 10, 0.125],
      'gpt-5-codex': [1.25, 10, 0.125],
      'gpt-5-mini': [0.25, 2, 0.025],
      'gpt-5-nano': [0.05, 0.4, 0.005],
      'gpt-5-pro': [15, 120],
      'gpt-5.1': [1.25, 10, 0.125],
      'gpt-5.1-codex': [1.25, 10, 0.125],
      'gpt-5.1-codex-max': [1.25, 10, 0.125],
      'gpt-5.1-codex-mini': [0.25, 2, 0.025],
      'gpt-5.2': [1.75, 14, 0.175],
      'gpt-5.2-codex': [1.75, 14, 0.175],
      'gpt-5.3': [1.75, 14, 0.175],
      'gpt-5.3-codex': [1.75, 14, 0.175],
      'gpt-5.4': [2.5, 15, 0.25, null, 271_999],
      'gpt-5.4-mini': [0.75, 4.5, 0.075],
      'gpt-5.4-nano': [0.2, 1.25, 0.02],
      'gpt-5.5': [5, 30, 0.5, null, 271_999],
      'gpt-5.6': [4, 20, 0.4, 5, 271_999],
      'gpt-5.6-luna': [0.2, 1.2, 0.02, 0.25, 271_999],
      'gpt-5.6-sol': [4, 20, 0.4, 5, 271_999],
      'gpt-5.6-terra': [2, 12, 0.2, 2.5, 271_999],
      o1: [15, 60, 7.5],
      o3: [2, 8, 0.5],
      'o3-mini': [1.1, 4.4, 0.55],
      'o4-mini': [1.1, 4.4, 0.275],
    },
  },
  {
    source: 'https://ai.google.dev/gemini-api/docs/pricing',
    checked: '2026-09-23',
    cached: 'within',
    models: {
      'gemini-2.0-flash': [0.1, 0.4, 0.025],
      'gemini-2.5-flash': [0.3, 2.5, 0.03],
      'gemini-2.5-flash-lite': [0.1, 0.4, 0.01],
      'gemini-2.5-pro': [1.25, 10, 0.125, null, 200_000],
      'gemini-3-flash-preview': [0.5, 3, 0.05],
      'gemini-3-pro-preview': [2, 12, 0.2, null, 200_000],
      'gemini-3.1-flash-lite': [0.25, 1.5, 0.025],
      'gemini-3.1-pro-preview': [2, 12, 0.2, null, 200_000],
      'gemini-3.5-flash': [1.5, 9, 0.15],
      'gemini-3.5-flash-lite': [0.3, 2.5, 0.03],
      'gemini-3.6-flash': [0.75, 3.75, 0.075],
      'gemini-3.7-flash': [0.75, 3.75, 0.075],
      'gemini-3.8-flash': [0.75, 3.75, 0.075],
    },
  },
];

export const MODEL_PRICES: ModelPrices = Object.fromEntries(
  VENDORS.flatMap(({ cached, checked, hourFactor, models, source }) =>
    Object.entries(models).map(
      ([name, [input, output, cacheRead, cacheWrite, upToInputTokens]]): [string, ModelPrice] => [
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

/** As vendors state them: `@pydantic/genai-prices` 0.1.8, compared on 2026-11-28. A model without a row is unknown. */
const WINDOWS: Readonly<Record<number, readonly string[]>> = {
  128_000: ['gpt-4o', 'gpt-4o-2024-05-13', 'gpt-4o-mini', 'gpt-5.3'],
  200_000: [
    'claude-3-5-haiku',
    'claude-3-5-sonnet',
    'claude-3-7-sonnet',
    'claude-haiku-4-5',
    'claude-opus-4',
    'claude-opus-4-0',
    'claude-opus-4-1',
    'claude-opus-4-5',
    'claude-sonnet-4',
    'claude-sonnet-4-0',
    'claude-sonnet-4-5',
    'codex-mini',
    'o1',
    'o3',
    'o3-mini',
    'o4-mini',
  ],
  400_000: [
    'gpt-5',
    'gpt-5-mini',
    'gpt-5-nano',
    'gpt-5-pro',
    'gpt-5.1',
    'gpt-5.1-codex-mini',
    'gpt-5.2',
    'gpt-5.3-codex',
    'gpt-5.4-mini',
    'gpt-5.4-nano',
  ],
  1_000_000: [
    'claude-fable-5',
    'claude-fable-5-1',
    'claude-opus-4-6',
    'claude-opus-4-7',
    'claude-opus-4-8',
    'claude-opus-5',
    'claude-opus-5-5',
    'claude-sonnet-4-6',
    'claude-sonnet-5',
    'gemini-2.0-flash',
    'gemini-2.5-flash-lite',
    'gemini-3.8-flash',
    'gpt-4.1',
    'gpt-4.1-mini',
    'gpt-4.1-nano',
    'gpt-5.5',
  ],
  1_048_576: [
    'gemini-2.5-flash',
    'gemini-3-flash-preview',
    'gemini-3.1-flash-lite',
    'gemini-3.1-pro-preview',
    'gemini-3.5-flash',
    'gemini-3.5-flash-lite',
    'gemini-3.6-flash',
    'gemini-3.7-flash',
  ],
  1_050_000: ['gpt-5.4', 'gpt-5.6-luna', 'gpt-5.6-sol', 'gpt-5.6-terra'],
};

const WINDOW_OF: ReadonlyMap<string, number> = new Map(
  Object.entries(WINDOWS).flatMap(([tokens, models]) => models.map((model) => [model, Number(tokens)] as const)),
);

/** Returns the size of a model's context window in tokens. Undefined if it is unknown. Claude Code marks a window of a million. */
export function contextWindowOf(modelId: string): number | undefined {
  if (modelId.endsWith('[1m]')) return 1_000_000;
  const name = modelNames(modelId).find((one) => WINDOW_OF.has(one));
  return name === undefined ? undefined : WINDOW_OF.get(name);
}
