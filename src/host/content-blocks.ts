import { isJsonObject } from '../base/json.ts';
import { toJson } from '../base/to-json.ts';
import type { ContentBlock, MessageContent, Usage } from '../records/agent-message.ts';

const DATA_URL = /^data:([\w.+/-]{1,100});base64,/;

/**
 * Converts message parts of OpenAI's APIs and SDKs to content blocks: texts, refusals and images by type, anything
 * else whole as `other`. A string is one text; null and an empty string give no block.
 *
 * Cost: one pass.
 */
export function contentBlocks(content: unknown): readonly ContentBlock[] {
  if (content === undefined || content === null || content === '') return [];
  if (!Array.isArray(content)) return [contentBlock(content)];
  return content.map((part: unknown) => contentBlock(part));
}

/** Blocks as content: a string if there is only one text. */
export function plainContent(blocks: readonly ContentBlock[]): MessageContent {
  const [first] = blocks;
  if (first === undefined) return '';
  return blocks.length === 1 && first.type === 'text' ? first.text : blocks;
}

/** A tool's result as the model sees it: one string if it is only text, else unchanged. */
export function resultOf(content: unknown): unknown {
  const blocks = contentBlocks(content);
  const texts = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  return texts.length === blocks.length ? texts.join('\n') : content;
}

/** The model's arguments: decoded if they are JSON, else the text (a call that was cut off). */
export function decodedArgs(text: string): unknown {
  if (text === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The counts that are numbers; undefined without any. */
export function usageOf(counts: { readonly [Name in keyof Usage]: unknown }): Usage | undefined {
  const known = Object.entries(counts).filter(([, count]) => typeof count === 'number' && Number.isFinite(count));
  return known.length === 0 ? undefined : Object.fromEntries(known);
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
  const inline = DATA_URL.exec(url);
  if (inline?.[1] === undefined) return { type: 'image', mediaType: 'image/*', url };
  return { type: 'image', mediaType: inline[1], dataBase64: url.slice(inline[0].length) };
}
