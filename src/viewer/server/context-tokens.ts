import type { TrajectoryPayload } from '../../records/trajectory-record.ts';

/**
 * Returns the number of tokens that the model read for a response, which is the size of its context at that time. Undefined if the record
 * does not contain it.
 */
export function contextTokensOf(payload: TrajectoryPayload): number | undefined {
  if (payload.kind !== 'message_appended' || payload.message.role !== 'assistant') return undefined;
  const {
    cache_read_tokens: read = 0,
    cache_write_tokens: written = 0,
    input_tokens: input,
  } = payload.message.usage ?? {};
  return input === undefined ? undefined : input + read + written;
}
