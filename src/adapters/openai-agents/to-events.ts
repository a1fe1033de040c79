import { present } from '../../base/present.ts';
import { isJsonObject } from '../../base/json.ts';
import { toJson } from '../../base/to-json.ts';
import type { AgentEvent } from '../../records/agent-event.ts';
import { plainContent, usageOf } from '../../host/content-blocks.ts';
import type { ConversationAnswer, RequestNews, SentRequest } from '../../host/conversation.ts';
import { answerParts, newsOfItems, nonEmptyText } from '../../host/response-items.ts';
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
  const text = systemInstructions === before.instructions ? undefined : nonEmptyText(systemInstructions);
  const { messages, results } = newsOfItems(
    items,
    { seen: before.seen, isChained: isChained(request) },
    saysThatItFailed,
  );
  return { messages: text === undefined ? messages : [{ role: 'system', content: text }, ...messages], results };
}

/** The request as it goes out, for its record. @param modelId  the name under which the model was asked for */
export function sentRequest(request: ModelRequest, modelId: string | undefined): SentRequest {
  const tools = objectsIn(request.tools);
  const names = [
    ...tools.map(({ name, type }) => name ?? type),
    ...objectsIn(request.handoffs).map((to) => to['toolName']),
  ];
  return {
    modelId,
    systemPrompt: nonEmptyText(request.systemInstructions) ?? '',
    messages: itemsOf(request) ?? [],
    tools: names.flatMap((name) => nonEmptyText(name) ?? []),
    isClosed: tools.every(({ type, namespace, deferLoading }) => {
      return type === 'function' && namespace === undefined && deferLoading !== true;
    }),
  };
}

function objectsIn(list: unknown): readonly Members[] {
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
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
  const parts = answerParts(output);
  const raw = isJsonObject(providerData) ? providerData : {};
  const usage = isJsonObject(counts) ? usageOfCounts(counts) : undefined;
  const model = nonEmptyText(raw['model']) ?? modelId;
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
  return isJsonObject(event) && event['type'] === 'output_text_delta' ? nonEmptyText(event['delta']) : undefined;
}

/** The response in the last event of a stream; undefined for any other event. */
export function doneResponseOf(event: unknown): unknown {
  return isJsonObject(event) && event['type'] === 'response_done' ? event['response'] : undefined;
}

/** What nobody knows, kept whole. */
export function unrecognised(what: string, value: unknown): AgentEvent {
  return { type: 'unrecognised', original: { kind: `openai-agents/${what}`, value: toJson(value) } };
}

function usageOfCounts(counts: Members): ReturnType<typeof usageOf> {
  const { inputTokens, outputTokens, inputTokensDetails, outputTokensDetails } = counts;
  const cacheReadTokens = detail(inputTokensDetails, 'cached_tokens');
  const reasoningTokens = detail(outputTokensDetails, 'reasoning_tokens');
  return usageOf({ inputTokens, outputTokens, cacheReadTokens, reasoningTokens });
}

/** Details are one object a request, or a list of them. */
function detail(details: unknown, name: string): unknown {
  const first: unknown = Array.isArray(details) ? details[0] : details;
  return isJsonObject(first) ? first[name] : undefined;
}

/** As the provider said it: of Responses the reason or the status, of chat completions the finish reason. */
function stopReasonOf(raw: Members): string | undefined {
  const { incomplete_details: incomplete, status, choices } = raw;
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  return (
    (isJsonObject(incomplete) ? nonEmptyText(incomplete['reason']) : undefined) ??
    nonEmptyText(status) ??
    (isJsonObject(choice) ? nonEmptyText(choice['finish_reason']) : undefined)
  );
}
