import type { Json } from '../base/json.ts';
import type { ShapeOf, ValueOf } from './shapes.ts';

export type ContentBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'tool_call'; readonly id: string; readonly name: string; readonly args: Json }
  /** Only the size and a digest of the bytes are stored. */
  | { readonly type: 'image'; readonly mediaType: string; readonly dataBase64?: string; readonly url?: string }
  /** A block of an unknown type. */
  | { readonly type: 'other'; readonly value: Json };

/** The content of a message: plain text or a list of parts. */
export type MessageContent = string | readonly ContentBlock[];

/** Tokens and cost of one model response, as reported by the host. */
export interface Usage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
  /** Part of the cache writes: those that the provider keeps for an hour, at a higher price. */
  readonly cacheWriteHourTokens?: number;
  /** These tokens are included in the output tokens. */
  readonly reasoningTokens?: number;
  /** Size of the model's context window, if the host states it. Not a part of the response. */
  readonly contextWindowTokens?: number;
  readonly costUsd?: number;
}

/** A message of the transcript, in its final form. */
export type AgentMessage =
  | { readonly role: 'system'; readonly content: MessageContent }
  | { readonly role: 'user'; readonly content: MessageContent }
  | {
      readonly role: 'assistant';
      readonly content: MessageContent;
      readonly stopReason?: string;
      readonly errorMessage?: string;
      readonly modelId?: string;
      readonly usage?: Usage;
    }
  | {
      readonly role: 'tool_result';
      readonly toolCallId: string;
      readonly toolName?: string;
      readonly content: MessageContent;
      readonly isError?: boolean;
    };

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
