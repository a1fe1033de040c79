import { type Mutable, isJsonObject } from '../../core/base/json.ts';
import type { StoredUsage } from '../../core/records/agent-message.ts';

/** Names that sources use for each stored field. Numbers are stored as the source counts them. */
const FIELD_NAMES: readonly (readonly [keyof StoredUsage, readonly string[]])[] = [
  ['input_tokens', ['input_tokens', 'prompt_tokens']],
  ['output_tokens', ['output_tokens', 'completion_tokens']],
  ['cache_read_tokens', ['cache_read_input_tokens', 'cached_tokens', 'cached_input_tokens']],
  ['cache_write_tokens', ['cache_creation_input_tokens', 'cache_write_input_tokens']],
  ['reasoning_tokens', ['reasoning_tokens', 'reasoning_output_tokens']],
  ['cost_usd', ['cost_usd']],
];

/** Fields in which OpenAI's format stores parts of a count. */
const DETAILS = [
  'prompt_tokens_details',
  'completion_tokens_details',
  'input_tokens_details',
  'output_tokens_details',
] as const;

/**
 * Reads the tokens and cost of one answer from Anthropic, OpenAI or ATIF field names. Undefined if there are no counts.
 *
 * OpenAI and ATIF include cached tokens in the input; Anthropic does not. The difference is kept, because the sources do not
 * contain enough data to convert the counts.
 */
export function sourceUsage(value: unknown): StoredUsage | undefined {
  if (!isJsonObject(value)) return undefined;
  const details: Record<string, unknown> = {};
  for (const name of DETAILS) if (isJsonObject(value[name])) Object.assign(details, value[name]);
  const usage: Mutable<StoredUsage> = {};
  for (const [field, names] of FIELD_NAMES) {
    for (const name of names) {
      const count = value[name] ?? details[name];
      if (typeof count !== 'number' || !Number.isFinite(count) || count < 0) continue;
      usage[field] = count;
      break;
    }
  }
  return Object.keys(usage).length === 0 ? undefined : usage;
}
