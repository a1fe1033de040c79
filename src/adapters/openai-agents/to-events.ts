import { type JsonMembers, membersOf, objectsIn, textOrUndefined, listOf, isJsonObject } from '../../core/base/json.ts';
import { hostOutcome } from '../../core/facts/host-refusals.ts';
import type { CallOutcome } from '../../core/records/trajectory-record.ts';
import { toJson } from '../../core/base/to-json.ts';
import type { AgentEvent } from '../../core/records/agent-event.ts';
import { answerOfParts } from '../host/answer-parts.ts';
import { usageOf } from '../host/content-blocks.ts';
import type { ConversationAnswer, RequestNews, SentRequest } from '../host/conversation.ts';
import { answerParts, newsOfItems, stopReasonOf } from '../host/response-items.ts';
import type { ModelRequest } from './sdk-shapes.ts';

export function itemsOf({ input }: ModelRequest): readonly unknown[] | undefined {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }];
  return Array.isArray(input) ? input : undefined;
}

/** Returns true if the provider stores earlier turns. The input then contains only new items, and the provider keeps them. */
export function isChained({ previousResponseId, conversationId }: ModelRequest): boolean {
  return previousResponseId !== undefined || conversationId !== undefined;
}

/** @param seesRuns true if every run of a tool is observed */
export function newsOf(
  request: ModelRequest,
  items: readonly unknown[],
  previous: { readonly seen: number; readonly instructions: string | undefined },
  seesRuns = false,
): RequestNews {
  const { systemInstructions } = request;
  const text = systemInstructions === previous.instructions ? undefined : textOrUndefined(systemInstructions);
  const { messages, results } = newsOfItems(items, { seen: previous.seen, isChained: isChained(request) }, (result) => {
    const isError = saysThatItFailed(result);
    const outcome = refusedBySdk(result);
    // An approval or a guardrail rejected a call that did not run. The user chooses the words.
    return { isError, outcome, unrun: seesRuns && !isError ? 'refused' : undefined };
  });
  return { messages: text === undefined ? messages : [{ role: 'system', content: text }, ...messages], results };
}

/** @param modelId  the name by which the model was requested */
export function sentRequest(request: ModelRequest, modelId: string | undefined): SentRequest {
  const tools = objectsIn(request.tools);
  const names = [
    ...tools.map(({ name, type }) => name ?? type),
    ...objectsIn(request.handoffs).map((to) => to['toolName']),
  ];
  return {
    modelId,
    systemPrompt: textOrUndefined(request.systemInstructions) ?? '',
    messages: itemsOf(request) ?? [],
    tools: names.flatMap((name) => textOrUndefined(name) ?? []),
    isClosed: tools.every(({ type, namespace, deferLoading }) => {
      return type === 'function' && namespace === undefined && deferLoading !== true;
    }),
  };
}

/** From @openai/agents 0.20: `tool()` catches errors of its function and sets no error flag. */
const FAILURES = ['An error occurred while running the tool.', 'An error occurred while parsing tool arguments.'];

/** Returns true for the SDK's own message after a tool failure or timeout. */
export function saysThatItFailed(result: unknown): boolean {
  if (typeof result !== 'string') return false;
  return FAILURES.some((opening) => result.startsWith(opening)) || TIMED_OUT.test(result);
}

export function refusedBySdk(result: unknown): CallOutcome | undefined {
  return typeof result === 'string' ? hostOutcome(result, 'openai-agents') : undefined;
}

const TIMED_OUT = /^Tool '[^']{1,200}' timed out after \d+ms\.$/;

/** @param modelId model id to use if the response does not name its model */
export function answerOf(response: unknown, modelId: string | undefined): ConversationAnswer | undefined {
  if (!isJsonObject(response) || !Array.isArray(response['output'])) return undefined;
  const { output, providerData, usage: counts } = response;
  const raw = membersOf(providerData);
  const [choice] = listOf(raw['choices']);
  return answerOfParts(answerParts(output), {
    stopReason: stopReasonOf(raw) ?? textOrUndefined(membersOf(choice)['finish_reason']),
    modelId: textOrUndefined(raw['model']) ?? modelId,
    usage: isJsonObject(counts) ? usageOfCounts(counts) : undefined,
  });
}

export function deltaOf(event: unknown): string | undefined {
  return isJsonObject(event) && event['type'] === 'output_text_delta' ? textOrUndefined(event['delta']) : undefined;
}

export function doneResponseOf(event: unknown): unknown {
  return isJsonObject(event) && event['type'] === 'response_done' ? event['response'] : undefined;
}

export function unrecognisedEvent(what: string, value: unknown): AgentEvent {
  return { type: 'unrecognised', original: { kind: `openai-agents/${what}`, value: toJson(value) } };
}

function usageOfCounts(counts: JsonMembers): ReturnType<typeof usageOf> {
  const { inputTokens, outputTokens, inputTokensDetails, outputTokensDetails } = counts;
  const cacheReadTokens = detailOf(inputTokensDetails, 'cached_tokens');
  const reasoningTokens = detailOf(outputTokensDetails, 'reasoning_tokens');
  return usageOf({ inputTokens, outputTokens, cacheReadTokens, reasoningTokens });
}

function detailOf(details: unknown, name: string): unknown {
  const first: unknown = Array.isArray(details) ? details[0] : details;
  return isJsonObject(first) ? first[name] : undefined;
}
