import { type JsonMembers, membersOf, numberOrUndefined } from '../../core/base/json.ts';
import type { RunEnded } from '../../core/records/trajectory-record.ts';

/** Counts by the name of a stored field of usage. */
export type Totals = Readonly<Record<string, number>>;

const USAGE_FIELDS = [
  ['input_tokens', 'prompt_tokens'],
  ['output_tokens', 'completion_tokens'],
  ['cache_read_tokens', 'cache_read_tokens'],
  ['cache_write_tokens', 'cache_write_tokens'],
] as const;

/** The totals of all models of a conversation: the agent's and that of its condenser. */
export function totalUsage(metrics: readonly JsonMembers[]): Totals {
  const sumOf = (counts: readonly unknown[]): number =>
    counts.reduce<number>((sum, one) => sum + (numberOrUndefined(one) ?? 0), 0);
  const cost = sumOf(metrics.map(({ accumulated_cost: usd }) => usd));
  const usages = metrics.map((one) => membersOf(one.accumulated_token_usage));
  return {
    ...Object.fromEntries(USAGE_FIELDS.map(([name, source]) => [name, sumOf(usages.map((one) => one[source]))])),
    ...(cost > 0 ? { cost_usd: cost } : {}),
  };
}

/** The totals in metrics of a model: its cost, and its tokens that are not from the cache. */
export function totalsOf(metrics: unknown): RunEnded['usage'] {
  const { accumulated_cost: cost, accumulated_token_usage: tokenUsage } = membersOf(metrics);
  const { prompt_tokens: prompt, completion_tokens: completion } = membersOf(tokenUsage);
  if (typeof cost !== 'number') return undefined;
  const tokens = (numberOrUndefined(prompt) ?? 0) + (numberOrUndefined(completion) ?? 0);
  return { cost_usd: cost, ...(tokens > 0 ? { tokens } : {}) };
}
