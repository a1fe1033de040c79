import { isJsonObject } from '../../core/base/json.ts';
import { toJson } from '../../core/base/to-json.ts';
import type { ContentBlock, MessageContent, Usage, StoredUsage } from '../../core/records/agent-message.ts';

const DATA_URL = /^data:([\w.+/-]{1,100});base64,/;

/**
 * Converts message parts of OpenAI's APIs and SDKs to content blocks. Texts, refusals and images are converted by type. Any
 * other part is kept unchanged as `other`. A string becomes one text block. Null and an empty string give no block.
 *
 * Cost: one pass.
 */
export function contentBlocks(content: unknown): readonly ContentBlock[] {
  if (content === undefined || content === null || content === '') return [];
  if (!Array.isArray(content)) return [contentBlock(content)];
  return content.map((part: unknown) => contentBlock(part));
}

/** Converts blocks to message content. The content is a string if it consists of one text. */
export function plainContent(blocks: readonly ContentBlock[]): MessageContent {
  const [first] = blocks;
  if (first === undefined) return '';
  return blocks.length === 1 && first.type === 'text' ? first.text : blocks;
}

/** Returns a tool's result as the model sees it. A result that contains only text becomes one string. Any other result is unchanged. */
export function resultOf(content: unknown): unknown {
  const blocks = contentBlocks(content);
  const texts = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  return texts.length === blocks.length ? texts.join('\n') : content;
}

export function decodedArgs(text: string): unknown {
  if (text === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Returns the counts that are finite numbers and not negative. Undefined if no count is. */
export function usageOf(counts: { readonly [Name in keyof Usage]: unknown }): Usage | undefined {
  const knownCounts = Object.entries(counts).filter(
    ([, count]) => typeof count === 'number' && count >= 0 && count < Infinity,
  );
  return knownCounts.length === 0 ? undefined : Object.fromEntries(knownCounts);
}

export function usageOfStored(stored: { readonly [Name in keyof StoredUsage]?: unknown }): Usage | undefined {
  return usageOf({
    inputTokens: stored.input_tokens,
    outputTokens: stored.output_tokens,
    cacheReadTokens: stored.cache_read_tokens,
    cacheWriteTokens: stored.cache_write_tokens,
    cacheWriteHourTokens: stored.cache_write_hour_tokens,
    reasoningTokens: stored.reasoning_tokens,
    contextWindowTokens: stored.context_window_tokens,
    costUsd: stored.cost_usd,
  });
}

function contentBlock(part: unknown): ContentBlock {
  if (typeof part === 'string') return { type: 'text', text: part };
  if (!isJsonObject(part)) return { type: 'other', value: toJson(part) };
  const { type, text, refusal } = part;
  if (typeof text === 'string' && TEXT_PARTS.has(type)) return { type: 'text', text };
  if (type === 'refusal' && typeof refusal === 'string') return { type: 'text', text: refusal };
  return imageBlock(part) ?? { type: 'other', value: toJson(part) };
}

const TEXT_PARTS: ReadonlySet<unknown> = new Set(['text', 'input_text', 'output_text']);

function imageBlock(part: Readonly<Record<string, unknown>>): ContentBlock | undefined {
  const link = part['image_url'] ?? part['image'];
  const url = isJsonObject(link) ? link['url'] : link;
  if (typeof url !== 'string') return undefined;
  const inlineData = DATA_URL.exec(url);
  if (inlineData?.[1] === undefined) return { type: 'image', mediaType: 'image/*', url };
  return { type: 'image', mediaType: inlineData[1], dataBase64: url.slice(inlineData[0].length) };
}

/** Returns true if the result of an MCP tool has its error flag set. */
export function saysThatItFailed(result: unknown): boolean {
  return isJsonObject(result) && result['isError'] === true && Array.isArray(result['content']);
}
