import { countsCacheBeside } from '../records/answer-cost.ts';
import { MODEL_PRICES, contextWindowOf } from '../records/model-prices.ts';
import type { TrajectoryPayload } from '../records/trajectory-record.ts';

/** The size of the model's context at its last response. Plain JSON. */
export interface ContextSize {
  /** Tokens that the model read for the response. */
  readonly tokens: number;
  /** Size of the model's context window in tokens. Absent if it is unknown. */
  readonly window?: number;
  /** Share of the window from 0 to 1, or more if the host uses a larger window. Absent if the window is unknown. */
  readonly share?: number;
}

/** Returns the size of the context after a record. Undefined before the first response, and after a compaction until the next one. */
export function contextAfter(
  before: ContextSize | undefined,
  payload: TrajectoryPayload,
  runModelId: string | undefined,
): ContextSize | undefined {
  if (payload.kind === 'compaction') return undefined;
  const tokens = contextTokensOf(payload, runModelId);
  if (tokens === undefined || payload.kind !== 'message_appended' || payload.message.role !== 'assistant')
    return before;
  const { model_id: modelId = runModelId, usage } = payload.message;
  const window = usage?.context_window_tokens ?? (modelId === undefined ? undefined : contextWindowOf(modelId));
  return { tokens, ...(window === undefined ? {} : { window, share: tokens / window }) };
}

/** The size of the context then. OpenAI counts cached tokens as input, Anthropic beside it. `runModelId`: the default. */
export function contextTokensOf(payload: TrajectoryPayload, runModelId: string | undefined): number | undefined {
  if (payload.kind !== 'message_appended' || payload.message.role !== 'assistant') return undefined;
  const { model_id: modelId = runModelId, usage } = payload.message;
  if (usage?.input_tokens === undefined) return undefined;
  const { cache_read_tokens: read = 0, cache_write_tokens: written = 0, input_tokens: input } = usage;
  return countsCacheBeside(usage, modelId, MODEL_PRICES) ? input + read + written : input;
}
