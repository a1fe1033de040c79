import type { ShapeOf, ValueOf } from './field-types.ts';

/** One part of a message, as stored. */
export type StoredContentBlock = ValueOf<'block'>;

/** The content of a message: plain text, or parts in order. */
export type StoredContent = ValueOf<'message_content'>;

/** A message of the transcript, as stored (final form, never a streaming delta). */
export type StoredMessage = ValueOf<'message'>;

/** Tokens and cost of one model answer, where the host reports them. */
export type StoredUsage = ShapeOf<'token_usage'>;

/** The text of a message's text parts, joined by line breaks; reasoning, calls and images are left out. */
export function textOfContent(content: StoredContent): string {
  if (typeof content === 'string') return content;
  const texts: string[] = [];
  for (const block of content) if (block.type === 'text') texts.push(block.text);
  return texts.join('\n');
}
