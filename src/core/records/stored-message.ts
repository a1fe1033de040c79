import type { ShapeOf, ValueOf } from './field-types.ts';

export type StoredContentBlock = ValueOf<'block'>;

/** The content of a message: plain text or a list of parts. */
export type StoredContent = ValueOf<'message_content'>;

/** A message of the transcript in its stored, final form. A streaming delta is never stored. */
export type StoredMessage = ValueOf<'message'>;

/** Tokens and cost of one model response, as reported by the host. */
export type StoredUsage = ShapeOf<'token_usage'>;

/** Joins the text parts of a message with line breaks. Reasoning, calls and images are left out. */
export function textOfContent(content: StoredContent): string {
  if (typeof content === 'string') return content;
  const texts: string[] = [];
  for (const block of content) if (block.type === 'text') texts.push(block.text);
  return texts.join('\n');
}
