import { countsCacheBeside } from '../records/answer-cost.ts';
import { MODEL_PRICES } from '../records/model-prices.ts';
import type { TrajectoryPayload } from '../records/trajectory-record.ts';

/**
 * Returns the number of tokens that the model read for a response, which is the size of its context at that time. Undefined if the record
 * does not contain it. OpenAI counts cached tokens as input, Anthropic counts them separately.
 *
 * @param runModelId  the model of the run, for a response that does not name its model
 */
export function contextTokensOf(payload: TrajectoryPayload, runModelId: string | undefined): number | undefined {
  if (payload.kind !== 'message_appended' || payload.message.role !== 'assistant') return undefined;
  const { model_id: modelId = runModelId, usage } = payload.message;
  if (usage?.input_tokens === undefined) return undefined;
  const { cache_read_tokens: read = 0, cache_write_tokens: written = 0, input_tokens: input } = usage;
  return countsCacheBeside(usage, modelId, MODEL_PRICES) ? input + read + written : input;
}
