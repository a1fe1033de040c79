import { isJsonObject } from '../../core/base/json.ts';
import { toJson } from '../../core/base/to-json.ts';
import type { ContentBlock } from '../../core/records/agent-message.ts';

/** A string becomes one text block. Unknown parts are kept unchanged. */
export function claudeContentBlocks(content: unknown): readonly ContentBlock[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.map(contentBlock) : [];
}

export function textOfBlocks(blocks: readonly ContentBlock[]): string {
  return blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

function contentBlock(block: unknown): ContentBlock {
  if (!isJsonObject(block)) return { type: 'other', value: toJson(block) };
  const { type, text, thinking, id, name, source } = block;
  if (type === 'text' && typeof text === 'string') return { type: 'text', text };
  if (type === 'thinking' && typeof thinking === 'string') return { type: 'reasoning', text: thinking };
  if (type === 'tool_use' && typeof id === 'string' && typeof name === 'string') {
    return { type: 'tool_call', id, name, args: toJson(block['input'] ?? {}) };
  }
  if (type === 'image' && isJsonObject(source)) {
    const mediaType = typeof source['media_type'] === 'string' ? source['media_type'] : 'image/*';
    if (typeof source['data'] === 'string') return { type: 'image', mediaType, dataBase64: source['data'] };
    if (typeof source['url'] === 'string') return { type: 'image', mediaType, url: source['url'] };
  }
  return { type: 'other', value: toJson(block) };
}
