import { isJsonObject } from '../../base/json.ts';
import type { StoredContentBlock, StoredContent } from '../../records/stored-message.ts';
import { plainest, sourceBlock, sourceBlocks, textOrUndefined } from '../parts/source-content.ts';

/** Inspect's message parts as stored blocks; attachments are resolved before. */
export function inspectBlocks(content: unknown): readonly StoredContentBlock[] {
  if (!Array.isArray(content)) return sourceBlocks(content);
  return content.map((part: unknown) => inspectBlock(part));
}

/** `inspectBlocks`, as a string where there is nothing but one text. */
export function inspectContent(content: unknown): StoredContent {
  return plainest(inspectBlocks(content));
}

/** Where Inspect's part differs from the chat formats: `reasoning`, and `image` as a plain link or data URL. */
function inspectBlock(part: unknown): StoredContentBlock {
  if (!isJsonObject(part)) return sourceBlock(part);
  if (part.type === 'reasoning') {
    const text = textOrUndefined(part.reasoning) ?? textOrUndefined(part.summary);
    if (text !== undefined) return { type: 'reasoning', text };
  }
  if (part.type === 'image' && typeof part.image === 'string') {
    return sourceBlock({ type: 'image_url', image_url: part.image });
  }
  return sourceBlock(part);
}
