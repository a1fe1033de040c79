import { modelNames } from './answer-cost.ts';

/**
 * Models by the size of their context window in tokens, as their vendors state it. The source is `@pydantic/genai-prices` 0.1.8,
 * compared on 2026-11-28. A model without a row has an unknown window.
 */
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
