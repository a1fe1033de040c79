import { present } from '../../base/present.ts';
import { isJsonObject } from '../../base/json.ts';
import { toJson } from '../../base/to-json.ts';
import type { AgentEvent } from '../../records/agent-event.ts';
import type { AgentMessage, ContentBlock } from '../../records/agent-message.ts';
import { contentBlocks, decodedArgs, plainContent, resultOf, usageOf } from '../../host/content-blocks.ts';
import type { ConversationAnswer, RequestNews } from '../../host/conversation.ts';
import type { IssuedCall } from '../../host/issued-call.ts';
import { unseenItems } from '../../host/unseen-items.ts';
import type { ModelRequest } from './sdk-shapes.ts';

type Members = Readonly<Record<string, unknown>>;

/** The items of a request's input; undefined where it is neither a text nor a list. */
export function itemsOf({ input }: ModelRequest): readonly unknown[] | undefined {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }];
  return Array.isArray(input) ? input : undefined;
}

/** True where earlier turns lie with the provider: then the input has new items only, and stays there. */
export function isChained({ previousResponseId, conversationId }: ModelRequest): boolean {
  return previousResponseId !== undefined || conversationId !== undefined;
}

/**
 * What a request shows that the last one of its conversation, which had `seen` items, did not.
 *
 * @param instructions those of the last request
 */
export function newsOf(
  request: ModelRequest,
  items: readonly unknown[],
  before: { readonly seen: number; readonly instructions: string | undefined },
): RequestNews {
  const { systemInstructions } = request;
  const text = systemInstructions === before.instructions ? undefined : textOf(systemInstructions);
  const messages: AgentMessage[] = text === undefined ? [] : [{ role: 'system', content: text }];
  const results: { readonly id: string; readonly result: unknown; readonly isError: boolean }[] = [];
  for (const item of isChained(request) ? items : unseenItems(items, before.seen, isModels)) {
    if (!isJsonObject(item)) continue;
    const { role, callId } = item;
    if (role === 'user' || role === 'system') {
      messages.push({ role, content: plainContent(contentBlocks(item['content'])) });
    } else if (isResult(item) && typeof callId === 'string') {
      const result = resultOf(item['output']);
      results.push({ id: callId, result, isError: saysThatItFailed(result) });
    }
  }
  return { messages, results };
}

/** True for what a model said or did, as a history holds it. */
function isModels(item: unknown): boolean {
  if (!isJsonObject(item)) return false;
  const { role, type } = item;
  if (typeof role === 'string') return role === 'assistant';
  return typeof type === 'string' && !isResult(item);
}

function isResult({ type }: Members): boolean {
  return typeof type === 'string' && (type.endsWith('_result') || type.endsWith('_output'));
}

/**
 * Openings of what the SDK itself tells the model when a tool failed: `tool()` catches what its function throws, so no
 * flag is left. From @openai/agents 0.20.
 */
const FAILURES = ['An error occurred while running the tool.', 'An error occurred while parsing tool arguments.'];

/** Whether a result is the SDK's own text for a tool that failed, or that ran out of its time. */
export function saysThatItFailed(result: unknown): boolean {
  if (typeof result !== 'string') return false;
  return FAILURES.some((opening) => result.startsWith(opening)) || TIMED_OUT.test(result);
}

const TIMED_OUT = /^Tool '[^']{1,200}' timed out after \d+ms\.$/;

/**
 * A model's response, streamed or not; undefined for any other shape.
 *
 * @param modelId the name under which the model was asked for, where the response does not say
 */
export function answerOf(response: unknown, modelId: string | undefined): ConversationAnswer | undefined {
  if (!isJsonObject(response) || !Array.isArray(response['output'])) return undefined;
  const { output, providerData, usage: counts } = response;
  const parts = (output as readonly unknown[]).flatMap(partsOf);
  const raw = isJsonObject(providerData) ? providerData : {};
  const usage = isJsonObject(counts) ? usageOfCounts(counts) : undefined;
  const model = textOf(raw['model']) ?? modelId;
  const stopReason = stopReasonOf(raw);
  const message = {
    role: 'assistant',
    content: plainContent(parts.map(({ block }) => block)),
    ...present({ stopReason, modelId: model, usage }),
  } as const;
  return { message, calls: parts.flatMap(({ call }) => (call === undefined ? [] : [call])) };
}

/** The text in an event of a streamed response; undefined for an event without. */
export function deltaOf(event: unknown): string | undefined {
  return isJsonObject(event) && event['type'] === 'output_text_delta' ? textOf(event['delta']) : undefined;
}

/** The response in the last event of a stream; undefined for any other event. */
export function doneResponseOf(event: unknown): unknown {
  return isJsonObject(event) && event['type'] === 'response_done' ? event['response'] : undefined;
}

/** What nobody knows, kept whole. */
export function unrecognised(what: string, value: unknown): AgentEvent {
  return { type: 'unrecognised', original: { kind: `openai-agents/${what}`, value: toJson(value) } };
}

/** A call as listeners and tools get it; undefined for any other shape. */
export function callOf(toolCall: unknown): IssuedCall | undefined {
  if (!isJsonObject(toolCall)) return undefined;
  const { callId, id, name, type } = toolCall;
  const known = textOf(callId) ?? textOf(id);
  if (known === undefined) return undefined;
  const argsText = textOf(toolCall['arguments']) ?? textOf(toolCall['input']);
  const args = argsText === undefined ? (toolCall['action'] ?? toolCall['operation'] ?? {}) : decodedArgs(argsText);
  return { id: known, name: textOf(name) ?? textOf(type) ?? 'unknown', args, argsText: argsText ?? '' };
}

/** A part of a response, and the call that it is. */
interface Part {
  readonly block: ContentBlock;
  readonly call?: IssuedCall;
}

/** Items that ask for something to be run on this side. What the provider runs itself has its answer in the item. */
const CALL_TYPES: ReadonlySet<unknown> = new Set([
  'function_call',
  'computer_call',
  'shell_call',
  'apply_patch_call',
  'custom_tool_call',
]);

function partsOf(item: unknown): readonly Part[] {
  if (!isJsonObject(item)) return [{ block: { type: 'other', value: toJson(item) } }];
  const { type, role, content } = item;
  if (role === 'assistant') return contentBlocks(content).map((block) => ({ block }));
  if (type === 'reasoning') return texts([content, item['rawContent']]).map((text) => ({ block: reasoning(text) }));
  const call = CALL_TYPES.has(type) ? callOf(item) : undefined;
  if (call === undefined) return [{ block: { type: 'other', value: toJson(item) } }];
  return [{ call, block: { type: 'tool_call', id: call.id, name: call.name, args: toJson(call.args) } }];
}

function reasoning(text: string): ContentBlock {
  return { type: 'reasoning', text };
}

function texts(lists: readonly unknown[]): readonly string[] {
  const parts = lists.flatMap((list): readonly unknown[] => (Array.isArray(list) ? list : []));
  return parts.flatMap((part) => (isJsonObject(part) ? (textOf(part['text']) ?? []) : []));
}

function usageOfCounts(counts: Members): ReturnType<typeof usageOf> {
  const { inputTokens, outputTokens, inputTokensDetails } = counts;
  // One object a request, or a list of them.
  const details: unknown = Array.isArray(inputTokensDetails) ? inputTokensDetails[0] : inputTokensDetails;
  const cacheReadTokens = isJsonObject(details) ? details['cached_tokens'] : undefined;
  return usageOf({ inputTokens, outputTokens, cacheReadTokens });
}

/** As the provider said it: of Responses the reason or the status, of chat completions the finish reason. */
function stopReasonOf(raw: Members): string | undefined {
  const { incomplete_details: incomplete, status, choices } = raw;
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  return (
    (isJsonObject(incomplete) ? textOf(incomplete['reason']) : undefined) ??
    textOf(status) ??
    (isJsonObject(choice) ? textOf(choice['finish_reason']) : undefined)
  );
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
