import { present, isJsonObject, type JsonObject } from '../../core/base/json.ts';
import { messageOf } from '../../core/base/error.ts';

export interface QueryResult {
  /** How the query ended: `ended`, `aborted`, `limit` or `error`. Does not say whether the task was solved. */
  readonly outcome: string;
  /** Total cost of the query in US dollars. */
  readonly costUsd?: number;
  readonly labels: JsonObject;
}

const MAX_ERROR_CHARS = 300;

const LIMITS: ReadonlySet<unknown> = new Set(['error_max_turns', 'error_max_budget_usd']);

/** Reads a `result` message. A `success` with an error flag, for example after a failed request, counts as an error. */
export function readQueryResult(message: Readonly<Record<string, unknown>>): QueryResult {
  const { subtype, is_error, terminal_reason, num_turns, total_cost_usd } = message;
  const isAborted = typeof terminal_reason === 'string' && terminal_reason.startsWith('aborted');
  const hasFailed = is_error === true || (typeof subtype === 'string' && subtype.startsWith('error'));
  const outcome = isAborted ? 'aborted' : LIMITS.has(subtype) ? 'limit' : hasFailed ? 'error' : 'ended';
  const error = hasFailed ? errorOf(message) : undefined;
  return {
    outcome,
    ...(typeof total_cost_usd === 'number' ? { costUsd: total_cost_usd } : {}),
    labels: {
      ...(typeof subtype === 'string' ? { subtype } : {}),
      ...(typeof terminal_reason === 'string' ? { terminal_reason } : {}),
      ...present({ error }),
      ...(typeof num_turns === 'number' ? { num_turns } : {}),
      ...(typeof total_cost_usd === 'number' ? { cost_usd: total_cost_usd } : {}),
      ...tokensOf(message['modelUsage']),
    },
  };
}

/** @param last  the last `result` message in the stream */
export function resultOfError(error: unknown, last: QueryResult | undefined): QueryResult {
  // After an error result, the SDK throws an error that contains no further information.
  if (last !== undefined && last.outcome !== 'ended') return last;
  const message = messageOf(error).slice(0, MAX_ERROR_CHARS);
  const isAborted = (error instanceof Error && error.name === 'AbortError') || /\babort(?:ed)?\b/i.test(message);
  return { outcome: isAborted ? 'aborted' : 'error', labels: { ...last?.labels, error: message } };
}

function errorOf({ errors, result }: Readonly<Record<string, unknown>>): string | undefined {
  const text = Array.isArray(errors) ? errors.filter((item) => typeof item === 'string').join('\n') : result;
  return typeof text === 'string' && text !== '' ? text.slice(0, MAX_ERROR_CHARS) : undefined;
}

const TOKENS = {
  inputTokens: 'input_tokens',
  outputTokens: 'output_tokens',
  cacheReadInputTokens: 'cache_read_tokens',
  cacheCreationInputTokens: 'cache_write_tokens',
} as const;

function tokensOf(modelUsage: unknown): JsonObject {
  if (!isJsonObject(modelUsage)) return {};
  const totals: Record<string, number> = {};
  for (const usage of Object.values(modelUsage)) {
    if (!isJsonObject(usage)) continue;
    for (const [theirs, ours] of Object.entries(TOKENS)) {
      const count = usage[theirs];
      if (typeof count === 'number') totals[ours] = (totals[ours] ?? 0) + count;
    }
  }
  return totals;
}
