import { membersOf, textOrUndefined, type Json, isJsonObject } from '../../core/base/json.ts';
import type { StoredContent, StoredContentBlock } from '../../core/records/agent-message.ts';

const DATA_URL = /^data:([\w.+/-]{1,100});base64,/;

/** Returns a source value as JSON. A missing value becomes null. */
export function asJson(value: unknown): Json {
  // Importers read decoded JSON, so every value but `undefined` is JSON.
  return value === undefined ? null : (value as Json);
}

/**
 * Converts message parts of OpenAI, Anthropic and ATIF to stored blocks. Text, reasoning and images are converted by type. Any
 * other part is kept unchanged as `other`. A string becomes one text block. Null and an empty string give no blocks.
 *
 * Cost: one pass; values are shared, not copied.
 */
export function sourceBlocks(content: unknown): readonly StoredContentBlock[] {
  if (content === undefined || content === null || content === '') return [];
  if (!Array.isArray(content)) return [sourceBlock(content)];
  return content.map((part: unknown) => sourceBlock(part));
}

/** Like `sourceBlocks`, but returns a string if there is only one text. */
export function sourceContent(content: unknown): StoredContent {
  return plainest(sourceBlocks(content));
}

/** Returns blocks as content, which is a string if there is only one text. */
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

/**
 * Returns a tool result as the model saw it. A result that contains only text becomes one string. Any other result is the
 * source's JSON.
 */
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
