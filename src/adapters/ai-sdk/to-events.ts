import { objectsIn, present, isJsonObject } from '../../core/base/json.ts';
import type { CallResult } from '../host/issued-call.ts';
import { toJson } from '../../core/base/to-json.ts';
import type { AgentEvent } from '../../core/records/agent-event.ts';
import type { AgentMessage, ContentBlock } from '../../core/records/agent-message.ts';
import { type GeneratedAnswer, readCall } from './read-answer.ts';
import { plainContent } from '../host/content-blocks.ts';
import { textField, type SdkFields, type ModelRequest, type PromptMessage } from './sdk-shapes.ts';

/**
 * @param modelId  model id to use if the answer names no model
 * @param recordedId  default: unchanged
 */
export function assistantMessage(
  answer: GeneratedAnswer,
  modelId: string,
  recordedId: (id: string) => string = (id) => id,
): AgentMessage & { readonly role: 'assistant' } {
  const { finishReason, usage } = answer;
  return {
    role: 'assistant',
    content: answer.parts.map((part) => {
      const block = blockOf(part);
      return block.type === 'tool_call' ? { ...block, id: recordedId(block.id) } : block;
    }),
    modelId: answer.modelId ?? modelId,
    ...present({ stopReason: finishReason, usage }),
  };
}

export function brokenMessage(
  answer: GeneratedAnswer | undefined,
  broke: { readonly stopReason: 'aborted' | 'error'; readonly errorMessage: string; readonly modelId: string },
): AgentMessage & { readonly role: 'assistant' } {
  const message =
    answer === undefined ? { role: 'assistant' as const, content: '' } : assistantMessage(answer, broke.modelId);
  return { ...message, ...broke };
}

export function systemTextOf(prompt: readonly PromptMessage[]): string {
  return prompt
    .flatMap(({ role, content }) => (role === 'system' && typeof content === 'string' ? [content] : []))
    .join('\n\n');
}

/** Returns the user messages at the end of a request. They have no answer yet. */
export function unansweredMessages(prompt: readonly PromptMessage[]): readonly AgentMessage[] {
  const last = prompt.findLastIndex(({ role }) => role === 'assistant' || role === 'tool');
  return prompt
    .slice(last + 1)
    .flatMap((message): readonly AgentMessage[] => (message.role === 'user' ? [userMessage(message)] : []));
}

/** Returns the tool results in the request in order. Results of calls that the provider ran are not included. */
export function resultsIn(
  prompt: readonly PromptMessage[],
): readonly { readonly id: string; readonly name: string; readonly output: unknown }[] {
  return prompt.flatMap(({ role, content }) =>
    role === 'tool'
      ? objectsIn(content).flatMap((part) =>
          part['type'] === 'tool-result'
            ? [{ id: textField(part, 'toolCallId'), name: textField(part, 'toolName'), output: part['output'] }]
            : [],
        )
      : [],
  );
}

/** Converts a result from the SDK's format for models to the recorded format. */
export function readOutput(output: unknown): CallResult {
  if (!isJsonObject(output)) return { result: output, isError: false };
  const type = textField(output, 'type');
  if (type === 'execution-denied') {
    return { result: textField(output, 'reason') || 'denied', isError: true, outcome: 'refused' };
  }
  return { result: output['value'], isError: type.startsWith('error') };
}

export function requestPrepared(request: ModelRequest, iteration: number, modelId: string): AgentEvent {
  return {
    type: 'provider_request_prepared',
    iteration,
    modelId,
    systemPrompt: systemTextOf(request.prompt),
    messages: request.prompt,
    tools: objectsIn(request['tools']).map((tool) => ({ name: textField(tool, 'name') })),
  };
}

function userMessage(message: PromptMessage): AgentMessage {
  const { content } = message;
  if (typeof content === 'string') return { role: 'user', content };
  return { role: 'user', content: plainContent(objectsIn(content).map(blockOf)) };
}

function blockOf(part: SdkFields): ContentBlock {
  const type = textField(part, 'type');
  switch (type) {
    case 'text':
    case 'reasoning':
      return { type, text: textField(part, 'text') };
    case 'tool-call':
      return { type: 'tool_call', ...readCall(part) };
    default:
      return { type: 'other', value: toJson(part) };
  }
}
