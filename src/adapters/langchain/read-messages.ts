import { isJsonObject, present } from '../../core/base/json.ts';
import type { AgentMessage } from '../../core/records/agent-message.ts';
import { contentBlocks, plainContent, resultOf, usageOf } from '../host/content-blocks.ts';
import type { ConversationAnswer, RequestNews, SentRequest } from '../host/conversation.ts';
import type { CallResult, IssuedCall } from '../host/issued-call.ts';
import { unseenItems } from '../host/unseen-items.ts';

type Members = Readonly<Record<string, unknown>>;

/** A model request as `wrapModelCall` receives it. Other fields are passed on unchanged. */
export interface ModelCallRequest {
  readonly messages: readonly unknown[];
  readonly systemPrompt?: unknown;
  readonly tools?: unknown;
  readonly model?: unknown;
}

/** The last request had `seen` messages and the system prompt `system`. */
export function newsOfMessages(
  request: ModelCallRequest,
  last: { readonly seen: number; readonly system: string },
): RequestNews {
  const system = wordOf(request.systemPrompt) ?? '';
  const messages: AgentMessage[] = system === '' || system === last.system ? [] : [{ role: 'system', content: system }];
  const results: RequestNews['results'][number][] = [];
  for (const message of unseenItems(request.messages, last.seen, (item) => messageType(item) === 'ai')) {
    if (!isJsonObject(message)) continue;
    const role = ROLES.get(messageType(message));
    if (role !== undefined) messages.push({ role, content: plainContent(contentBlocks(message['content'])) });
    const id = wordOf(message['tool_call_id']);
    if (messageType(message) !== 'tool' || id === undefined) continue;
    const outcome = outcomeOfMessage(message);
    // Another middleware, such as that of human approval, answered instead of the tool.
    results.push({ id, ...outcome, unrun: outcome.isError ? 'refused' : undefined });
  }
  return { messages, results };
}

export function firstMessageOf({ messages }: ModelCallRequest): unknown {
  return membersOf(messages.find((message) => messageType(message) === 'human'))['content'];
}

export function resultIdsOf({ messages }: ModelCallRequest): readonly string[] {
  return messages.flatMap((message) => wordOf(membersOf(message)['tool_call_id']) ?? []);
}

export function sentModelCall({ messages, systemPrompt, tools, model }: ModelCallRequest): SentRequest {
  const offeredTools = Array.isArray(tools) ? tools.filter(isJsonObject) : [];
  const names = offeredTools.map((tool) => wordOf(tool['name']) ?? wordOf(membersOf(tool['function'])['name']));
  return {
    modelId: wordOf(membersOf(model)['model']) ?? wordOf(membersOf(model)['modelName']),
    systemPrompt: wordOf(systemPrompt) ?? '',
    messages,
    tools: names.map((name, index) => name ?? wordOf(offeredTools[index]?.['type']) ?? 'unknown'),
    isClosed: !names.includes(undefined),
  };
}

/** Reads a model's answer, or the first of an answer with a structured response. Undefined if the value has no model message. */
export function answerOfMessage(answer: unknown, modelId: string | undefined): ConversationAnswer | undefined {
  const { messages } = membersOf(answer);
  // An answer with a structured response comes with the result of its call, because no tool runs.
  const parts: readonly unknown[] = Array.isArray(messages) ? messages : [answer];
  const message = parts.find((part) => messageType(part) === 'ai');
  if (!isJsonObject(message) || messageType(message) !== 'ai') return undefined;
  const { content, tool_calls: toolCalls, usage_metadata: counts, response_metadata: metadata } = message;
  const calls = (Array.isArray(toolCalls) ? toolCalls : []).filter(isJsonObject).map((members): IssuedCall => {
    const result = parts.find((part) => membersOf(part)['tool_call_id'] === members['id']);
    return Object.assign(callOfMembers(members), result === undefined ? {} : { answer: outcomeOfMessage(result) });
  });
  const ownBlocks = contentBlocks(content).filter((block) => !isCall(block));
  const { model_name, model, finish_reason, stop_reason } = membersOf(metadata);
  const usage = membersOf(counts);
  return {
    message: {
      role: 'assistant',
      content: plainContent([
        ...ownBlocks,
        // Providers send the arguments of calls as JSON.
        ...calls.map(({ id, name, args }) => ({ type: 'tool_call', id, name, args: args as never }) as const),
      ]),
      ...present({
        modelId: wordOf(model_name) ?? wordOf(model) ?? modelId,
        stopReason: wordOf(finish_reason) ?? wordOf(stop_reason),
        usage: usageOf({
          inputTokens: usage['input_tokens'],
          outputTokens: usage['output_tokens'],
          cacheReadTokens: membersOf(usage['input_token_details'])['cache_read'],
          cacheWriteTokens: membersOf(usage['input_token_details'])['cache_creation'],
          reasoningTokens: membersOf(usage['output_token_details'])['reasoning'],
        }),
      }),
    },
    calls,
  };
}

export function callOfMembers({ id, name, args }: Members): IssuedCall {
  return {
    id: wordOf(id) ?? '',
    name: wordOf(name) ?? 'unknown',
    args: args ?? {},
    argsText: JSON.stringify(args ?? {}),
  };
}

/** Reads the result of a tool: a tool message, or a `Command` that contains one. */
export function outcomeOfMessage(returnedValue: unknown): CallResult {
  const update = membersOf(membersOf(returnedValue)['update'])['messages'];
  const inCommand: unknown = Array.isArray(update)
    ? update.findLast((message) => messageType(message) === 'tool')
    : undefined;
  const message = membersOf(inCommand ?? returnedValue);
  if (messageType(message) !== 'tool') return { result: returnedValue, isError: false };
  return { result: resultOf(message['content']), isError: message['status'] === 'error' };
}

export function messageType(message: unknown): string | undefined {
  return wordOf(membersOf(message)['type']);
}

const ROLES: ReadonlyMap<unknown, 'system' | 'user'> = new Map([
  ['system', 'system'],
  ['human', 'user'],
]);

/** Returns true for a content part that repeats a call. Anthropic's models send such parts. */
function isCall(block: ReturnType<typeof contentBlocks>[number]): boolean {
  return block.type === 'other' && isJsonObject(block.value) && CALL_PARTS.has(block.value['type']);
}

const CALL_PARTS: ReadonlySet<unknown> = new Set(['tool_use', 'tool_call', 'functionCall', 'function_call']);

function membersOf(value: unknown): Members {
  return isJsonObject(value) ? value : {};
}

function wordOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
