import {
  membersOf,
  numberOrUndefined,
  textOrUndefined,
  type Json,
  isJsonObject,
  type Mutable,
  listOf,
} from '../../core/base/json.ts';
import type { StoredContent, StoredContentBlock, StoredUsage } from '../../core/records/agent-message.ts';
import type { CallShape } from './call-ids.ts';
import { isPricedBeside } from '../../core/records/answer-cost.ts';
import { MODEL_PRICES } from '../../core/records/model-prices.ts';
import { decodeJson } from '../reading/json-text.ts';
import type { ImportSource } from '../importer.ts';
import { unixMsOf } from '../../core/base/unix-time.ts';

const DATA_URL = /^data:([\w.+/-]{1,100});base64,/;

export function asJson(value: unknown): Json {
  // Importers read decoded JSON, so every value but `undefined` is JSON.
  return value === undefined ? null : (value as Json);
}

/** Converts parts of OpenAI, Anthropic and ATIF; any other is kept as `other`. Null and an empty string give no blocks. */
export function sourceBlocks(content: unknown): readonly StoredContentBlock[] {
  if (content === undefined || content === null || content === '') return [];
  if (!Array.isArray(content)) return [sourceBlock(content)];
  return content.map((part: unknown) => sourceBlock(part));
}

export function sourceContent(content: unknown): StoredContent {
  return plainest(sourceBlocks(content));
}

export function plainest(blocks: readonly StoredContentBlock[]): StoredContent {
  const [first] = blocks;
  if (first === undefined) return '';
  return blocks.length === 1 && first.type === 'text' ? first.text : blocks;
}

export function sourceBlock(part: unknown): StoredContentBlock {
  if (typeof part === 'string') return { type: 'text', text: part };
  if (!isJsonObject(part)) return { type: 'other', value: asJson(part) };
  switch (part.type) {
    case 'text':
    case 'input_text':
    case 'output_text':
      if (typeof part.text === 'string') return { type: 'text', text: part.text };
      break;
    case 'refusal':
      if (typeof part.refusal === 'string') return { type: 'text', text: part.refusal };
      break;
    case 'thinking':
      if (typeof part.thinking === 'string') return { type: 'reasoning', text: part.thinking };
      break;
    case 'image':
    case 'image_url':
    case 'input_image':
      return imageBlock(part) ?? { type: 'other', value: asJson(part) };
    default:
      break;
  }
  return { type: 'other', value: asJson(part) };
}

function imageBlock(part: Readonly<Record<string, unknown>>): StoredContentBlock | undefined {
  const source = membersOf(part.source);
  if (typeof source.media_type === 'string' && typeof source.data === 'string') {
    return { type: 'image', media_type: source.media_type, data_base64: source.data };
  }
  const link = isJsonObject(part.image_url) ? part.image_url.url : part.image_url;
  const url = textOrUndefined(link) ?? textOrUndefined(source.url) ?? textOrUndefined(source.path);
  if (url === undefined) return undefined;
  const inlineData = DATA_URL.exec(url);
  if (inlineData?.[1] !== undefined) {
    return { type: 'image', media_type: inlineData[1], data_base64: url.slice(inlineData[0].length) };
  }
  return { type: 'image', media_type: textOrUndefined(source.media_type) ?? 'image/*', url };
}

/** The reasoning of an item of OpenAI's Responses API, which has parts. */
export function reasoningBlocks(parts: unknown): readonly StoredContentBlock[] {
  return listOf(parts).flatMap((part) => {
    const text = textOrUndefined(membersOf(part).text);
    return text === undefined ? [] : [{ type: 'reasoning', text }];
  });
}

/** A result that contains only text becomes one string. Any other is the source's JSON. */
export function sourceResult(content: unknown): Json {
  if (!Array.isArray(content)) return asJson(content ?? '');
  const texts: string[] = [];
  for (const part of content as readonly unknown[]) {
    const block = sourceBlock(part);
    if (block.type !== 'text') return asJson(content);
    texts.push(block.text);
  }
  return texts.join('\n');
}

/** A call whose program has its own names for these facts. */
export function namedCall(id: unknown, name: unknown, args: unknown): CallShape {
  return { sourceId: textOrUndefined(id), name: textOrUndefined(name) ?? 'unknown', args: callArguments(args) };
}

/** OpenAI's `{id, function}`, `{id, name, arguments}` or `{call_id, name, arguments}`, or ATIF's `{tool_call_id, function_name}`. */
export function sourceCall(value: unknown): CallShape {
  const call = membersOf(value);
  const inner = isJsonObject(call.function) ? call.function : isJsonObject(call.custom) ? call.custom : call;
  const id = textOrUndefined(call.tool_call_id) ?? textOrUndefined(call.call_id) ?? call.id;
  return namedCall(id, textOrUndefined(inner.name) ?? call.function_name, inner.arguments ?? inner.input);
}

/** Returns arguments as JSON. Text is decoded. It stays text if it is not JSON, for example if the call is truncated or free-form. */
export function callArguments(value: unknown): Json {
  if (value === undefined || value === null || value === '') return {};
  if (typeof value !== 'string') return asJson(value);
  const decoded = decodeJson(value);
  return decoded.ok ? asJson(decoded.value) : value;
}

/** Names that sources use for each stored field. Numbers are stored as the source counts them. */
const FIELD_NAMES: readonly (readonly [keyof StoredUsage, readonly string[]])[] = [
  ['input_tokens', ['input_tokens', 'prompt_tokens']],
  ['output_tokens', ['output_tokens', 'completion_tokens']],
  ['cache_read_tokens', ['cache_read_input_tokens', 'cached_tokens', 'cached_input_tokens', 'cache_read_tokens']],
  ['cache_write_tokens', ['cache_creation_input_tokens', 'cache_write_input_tokens', 'cache_creation_tokens']],
  ['cache_write_hour_tokens', ['ephemeral_1h_input_tokens']],
  ['reasoning_tokens', ['reasoning_tokens', 'reasoning_output_tokens']],
  ['cost_usd', ['cost_usd']],
];

const DETAILS = [
  'prompt_tokens_details',
  'completion_tokens_details',
  'input_tokens_details',
  'output_tokens_details',
  'cache_creation',
] as const;

/** Anthropic does not count cached tokens as input. All others do, also of its models: they name the input `prompt_tokens`. */
export function sourceUsage(value: unknown, modelId?: string): StoredUsage | undefined {
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
  if (Object.keys(usage).length === 0) return undefined;
  return typeof value['prompt_tokens'] === 'number' ? usageOfProvider(usage, modelId, 'within') : usage;
}

type Counts = { readonly [Field in keyof StoredUsage]?: unknown };

/** The counts that a program writes under its own names. Undefined without those of the input. */
export function namedUsage(counts: Counts): StoredUsage | undefined {
  const input = numberOrUndefined(counts.input_tokens);
  if (input === undefined) return undefined;
  const known = Object.entries(counts).filter(([, count]) => numberOrUndefined(count) !== undefined);
  return { input_tokens: input, output_tokens: 0, cache_read_tokens: 0, ...Object.fromEntries(known) };
}

/** As the model's provider counts it, for prices. `cached`: whether the source counts cached tokens within or beside the input. */
export function usageOfProvider(
  usage: StoredUsage | undefined,
  modelId: string | undefined,
  cached: 'within' | 'beside',
): StoredUsage | undefined {
  if (usage?.input_tokens === undefined || modelId === undefined) return usage;
  const isBeside = isPricedBeside(modelId, MODEL_PRICES);
  if (isBeside === (cached === 'beside')) return usage;
  const { cache_read_tokens: read = 0, cache_write_tokens: written = 0, input_tokens: input } = usage;
  const count = isBeside ? input - read - written : input + read + written;
  return count < 0 ? usage : { ...usage, input_tokens: count };
}

/** Returns a source's file name without the extensions of the supported formats. Returns `run` if the rest is empty. */
export function sourceStem(source: ImportSource | string): string {
  const name = typeof source === 'string' ? source : source.name;
  const stem = name.replace(/(?:\.(?:traj|json|jsonl|ndjson|eval))+$/i, '');
  return stem === '' || stem === '-' ? 'run' : stem;
}

const ISO_DATE = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/;
const HAS_ZONE = /(?:Z|[+-]\d\d:?\d\d)$/;

/** ISO text (UTC without a zone, so the machine's zone has no effect), or a Unix time whose magnitude gives the unit. */
export function sourceTimeMs(value: unknown): number | undefined {
  if (typeof value === 'number') {
    if (!Number.isFinite(value) || value <= 0) return undefined;
    return Math.round(unixMsOf(value).ms);
  }
  if (typeof value !== 'string' || value.length > 40 || !ISO_DATE.test(value)) return undefined;
  const parsed = Date.parse(HAS_ZONE.test(value) ? value : `${value}Z`);
  return Number.isNaN(parsed) ? undefined : parsed;
}
