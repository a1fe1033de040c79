import { present } from '../../core/base/json.ts';
import { toJson } from '../../core/base/to-json.ts';
import type { ContentBlock, Usage } from '../../core/records/agent-message.ts';
import { plainContent } from './content-blocks.ts';
import type { ConversationAnswer } from './conversation.ts';
import type { IssuedCall } from './issued-call.ts';

/** A part of a model's answer, and the call in it. */
export interface AnswerPart {
  readonly block: ContentBlock;
  readonly call?: IssuedCall;
}

export function callPart(call: IssuedCall): AnswerPart {
  return { call, block: { type: 'tool_call', id: call.id, name: call.name, args: toJson(call.args) } };
}

export function callsIn(parts: readonly AnswerPart[]): readonly IssuedCall[] {
  return parts.flatMap(({ call }) => call ?? []);
}

export function answerOfParts(
  parts: readonly AnswerPart[],
  about: { readonly [Name in 'modelId' | 'stopReason' | 'errorMessage']?: string | undefined } & {
    readonly usage: Usage | undefined;
  },
): ConversationAnswer {
  const content = plainContent(parts.map(({ block }) => block));
  return { message: { role: 'assistant', content, ...present(about) }, calls: callsIn(parts) };
}
