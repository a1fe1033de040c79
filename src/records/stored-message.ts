import type { Json } from '../base/json.ts';

/** One part of a message, as stored. */
export type StoredContentBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'tool_call'; readonly id: string; readonly name: string; readonly args: Json }
  | { readonly type: 'image'; readonly media_type: string; readonly data_base64?: string; readonly url?: string }
  /** What the source had and this version has no name for. */
  | { readonly type: 'other'; readonly value: Json };

/** The content of a message: plain text, or parts in order. */
export type StoredContent = string | readonly StoredContentBlock[];

/** Tokens and cost of one model answer, where the host reports them. */
export interface StoredUsage {
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly cache_read_tokens?: number;
  readonly cache_write_tokens?: number;
  readonly cost_usd?: number;
}

/** A message of the transcript, as stored (final form, never a streaming delta). */
export type StoredMessage =
  | { readonly role: 'system'; readonly content: StoredContent }
  | { readonly role: 'user'; readonly content: StoredContent }
  | {
      readonly role: 'assistant';
      readonly content: StoredContent;
      readonly stop_reason?: string;
      readonly error_message?: string;
      readonly model_id?: string;
      readonly usage?: StoredUsage;
    }
  | {
      readonly role: 'tool_result';
      readonly tool_call_id: string;
      readonly tool_name?: string;
      readonly content: StoredContent;
      readonly is_error?: boolean;
    };

/** The text of a message's text parts, joined by line breaks; reasoning, calls and images are left out. */
export function textOfContent(content: StoredContent): string {
  if (typeof content === 'string') return content;
  const texts: string[] = [];
  for (const block of content) if (block.type === 'text') texts.push(block.text);
  return texts.join('\n');
}
