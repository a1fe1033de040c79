import { present } from '../../base/present.ts';
import { isJsonObject } from '../../base/json.ts';
import { toJson } from '../../base/to-json.ts';
import type { AgentEvent } from '../../records/agent-event.ts';
import type { ContentBlock } from '../../records/agent-message.ts';
import { contentBlocks, decodedArgs, plainContent, usageOf } from '../../host/content-blocks.ts';
import type { ConversationAnswer } from '../../host/conversation.ts';
import type { IssuedCall } from '../../host/issued-call.ts';
import type { ToolCall } from './sdk-shapes.ts';

type Members = Readonly<Record<string, unknown>>;

/** An answer of chat completions or Responses, as JSON; undefined for any other shape. */
export function answerOf(body: unknown): ConversationAnswer | undefined {
  if (!isJsonObject(body)) return undefined;
  if (Array.isArray(body['output'])) return answerOfResponse(body, body['output']);
  const choice: unknown = Array.isArray(body['choices']) ? body['choices'][0] : undefined;
  return isJsonObject(choice) ? answerOfChoice(body, choice) : undefined;
}

/** True for a response that is still being worked on, in the background: its answer comes by another way. */
export function isUnfinished(body: unknown): boolean {
  return isJsonObject(body) && (body['status'] === 'queued' || body['status'] === 'in_progress');
}

/** What of an answer nobody knows, kept whole. */
export function unrecognised(what: string, value: unknown): AgentEvent {
  return { type: 'unrecognised', original: { kind: `openai/${what}`, value: toJson(value) } };
}

/** A call as a loop of one's own runs it. */
export function toIssuedCall(call: ToolCall): IssuedCall {
  switch (call.type) {
    case 'function_call':
      return issuedCall(call.call_id, call.name, call.arguments);
    case 'custom_tool_call':
      return issuedCall(call.call_id, call.name, call.input);
    case 'custom':
      return issuedCall(call.id, call.custom.name, call.custom.input);
    default:
      return issuedCall(call.id, call.function.name, call.function.arguments);
  }
}

/** Calls in the last message of a `runTools` runner that the model gave. */
export function callsOfRunner(runner: unknown): readonly IssuedCall[] {
  const messages = isJsonObject(runner) ? runner['messages'] : undefined;
  const list: readonly unknown[] = Array.isArray(messages) ? messages : [];
  const last = list.findLast((message) => isJsonObject(message) && message['role'] === 'assistant');
  return isJsonObject(last) ? chatCalls(last).flatMap(({ call }) => (call === undefined ? [] : [call])) : [];
}

function answerOfChoice(body: Members, choice: Members): ConversationAnswer | undefined {
  const { message, finish_reason } = choice;
  if (!isJsonObject(message)) return undefined;
  const found = chatCalls(message);
  const reasoning = textOf(message['reasoning_content']) ?? textOf(message['reasoning']);
  const blocks: readonly ContentBlock[] = [
    ...(reasoning === undefined ? [] : [{ type: 'reasoning', text: reasoning } as const]),
    ...contentBlocks(message['content']),
    ...contentBlocks(message['refusal']),
    ...found.map(({ block }) => block),
  ];
  const usage = isJsonObject(body['usage']) ? body['usage'] : {};
  const details = isJsonObject(usage['prompt_tokens_details']) ? usage['prompt_tokens_details'] : {};
  return answer(
    blocks,
    found.flatMap(({ call }) => (call === undefined ? [] : [call])),
    {
      stopReason: textOf(finish_reason),
      modelId: textOf(body['model']),
      usage: usageOf({
        inputTokens: usage['prompt_tokens'],
        outputTokens: usage['completion_tokens'],
        cacheReadTokens: details['cached_tokens'],
      }),
    },
  );
}

/** A part of an answer, and the call that it is. */
interface Part {
  readonly block: ContentBlock;
  readonly call?: IssuedCall;
}

function chatCalls(message: Members): readonly Part[] {
  const { tool_calls, function_call } = message;
  const list: readonly unknown[] = Array.isArray(tool_calls) ? tool_calls : [];
  const legacy = isJsonObject(function_call) ? [{ function: function_call }] : [];
  return [...list, ...legacy].map((value): Part => {
    const call = isJsonObject(value) ? value : {};
    const named = call['function'] ?? call['custom'];
    if (!isJsonObject(named)) return { block: { type: 'other', value: toJson(value) } };
    return callPart(call['id'], named['name'], named['arguments'] ?? named['input']);
  });
}

function issuedCall(id: unknown, name: unknown, input: unknown): IssuedCall {
  const argsText = textOf(input) ?? '';
  return { id: textOf(id) ?? '', name: textOf(name) ?? 'unknown', args: decodedArgs(argsText), argsText };
}

function callPart(id: unknown, name: unknown, input: unknown): Part {
  const call = issuedCall(id, name, input);
  return { call, block: { type: 'tool_call', id: call.id, name: call.name, args: toJson(call.args) } };
}

function answerOfResponse(body: Members, output: readonly unknown[]): ConversationAnswer {
  const parts = output.flatMap(responsePart);
  const { incomplete_details: incomplete, error, status } = body;
  const usage = isJsonObject(body['usage']) ? body['usage'] : {};
  const details = isJsonObject(usage['input_tokens_details']) ? usage['input_tokens_details'] : {};
  return answer(
    parts.map(({ block }) => block),
    parts.flatMap(({ call }) => (call === undefined ? [] : [call])),
    {
      stopReason: (isJsonObject(incomplete) ? textOf(incomplete['reason']) : undefined) ?? textOf(status),
      errorMessage: isJsonObject(error) ? textOf(error['message']) : undefined,
      modelId: textOf(body['model']),
      usage: usageOf({
        inputTokens: usage['input_tokens'],
        outputTokens: usage['output_tokens'],
        cacheReadTokens: details['cached_tokens'],
      }),
    },
  );
}

function responsePart(value: unknown): readonly Part[] {
  const item = isJsonObject(value) ? value : {};
  switch (item['type']) {
    case 'message':
      return contentBlocks(item['content']).map((block) => ({ block }));
    case 'reasoning':
      return reasoningTexts(item).map((text) => ({ block: { type: 'reasoning', text } }));
    case 'function_call':
      return [callPart(item['call_id'], item['name'], item['arguments'])];
    case 'custom_tool_call':
      return [callPart(item['call_id'], item['name'], item['input'])];
    case 'mcp_call':
      return [mcpPart(item)];
    default:
      return [{ block: { type: 'other', value: toJson(value) } }];
  }
}

/** A call that the provider made itself: it came back within the answer. */
function mcpPart(item: Members): Part {
  const { block, call } = callPart(item['id'], item['name'], item['arguments']);
  if (call === undefined) return { block };
  const isError = isJsonObject(item['error']) || typeof item['error'] === 'string';
  return { block, call: { ...call, answer: { result: isError ? item['error'] : (item['output'] ?? null), isError } } };
}

function reasoningTexts(item: Members): readonly string[] {
  const parts = [item['summary'], item['content']].flatMap((list): readonly unknown[] =>
    Array.isArray(list) ? list : [],
  );
  return parts.flatMap((part) => (isJsonObject(part) ? (textOf(part['text']) ?? []) : []));
}

function answer(
  blocks: readonly ContentBlock[],
  calls: readonly IssuedCall[],
  told: { readonly [Name in 'stopReason' | 'errorMessage' | 'modelId']?: string | undefined } & {
    readonly usage: ReturnType<typeof usageOf>;
  },
): ConversationAnswer {
  const { stopReason, errorMessage, modelId, usage } = told;
  const message = {
    role: 'assistant',
    content: plainContent(blocks),
    ...present({ stopReason, errorMessage, modelId, usage }),
  } as const;
  return { message, calls };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
