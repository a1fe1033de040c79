import { isJsonObject, membersOf, objectsIn, present, textOrEmpty, textOrUndefined } from '../../core/base/json.ts';
import { toJson } from '../../core/base/to-json.ts';
import type { AgentMessage, ContentBlock } from '../../core/records/agent-message.ts';
import { readArgs, readUsage } from '../ai-sdk/read-answer.ts';
import type { PromptMessage } from '../ai-sdk/sdk-shapes.ts';
import { readOutput, resultsIn, systemTextOf, unansweredMessages } from '../ai-sdk/to-events.ts';
import { plainContent } from '../host/content-blocks.ts';
import type { ConversationAnswer, RequestNews } from '../host/conversation.ts';
import type { CallResult, IssuedCall } from '../host/issued-call.ts';
import { unseenItems } from '../host/unseen-items.ts';

/**
 * Returns the part of a request that is new since the last one, which had `seen` messages and the system prompt `system`. The
 * request has the prompt format of the AI SDK.
 *
 * @param deniedIds  calls that a person declined; their results look like those of a tool
 */
export function newsOfPrompt(
  prompt: readonly PromptMessage[],
  last: { readonly seen: number; readonly system: string },
  deniedIds: ReadonlySet<unknown>,
): RequestNews {
  const system = systemTextOf(prompt);
  const added = unseenItems(prompt, last.seen, ({ role }) => role === 'assistant');
  const messages: AgentMessage[] = system === '' || system === last.system ? [] : [{ role: 'system', content: system }];
  return {
    messages: [...messages, ...unansweredMessages(added)],
    results: resultsIn(added).map(({ id, name, output }) => {
      const { result, isError } = readOutput(output);
      const unrun = deniedIds.has(id) ? 'refused' : undefined;
      return { id, name, result, isError: isError || saysInvalid(result), unrun };
    }),
  };
}

/** Returns the ids of the calls in Mastra's list of messages that a person declined. */
export function deniedIn(messageList: unknown): ReadonlySet<unknown> {
  const all: unknown = Object(Object(Object(messageList)['get'])['all']);
  const list: unknown = Reflect.get(Object(all), 'db');
  if (typeof list !== 'function') return new Set();
  const messages: unknown = Reflect.apply(list, all, []);
  const parts = objectsIn(messages).flatMap(({ content }) => objectsIn(membersOf(content)['parts']));
  const denied = parts
    .map((part) => membersOf(part['toolInvocation']))
    .filter(({ state }) => state === 'output-denied');
  return new Set(denied.map(({ toolCallId }) => toolCallId));
}

/** Returns the result of a tool as its hook receives it. Mastra answers invalid arguments itself, with `error: true`. */
export function outcomeOfTool(output: unknown): CallResult {
  return { result: output, isError: saysInvalid(output) };
}

/** Reads the chunks of one answer. Undefined if the answer broke off. */
export function answerOfChunks(chunks: unknown, modelId: string | undefined): ConversationAnswer | undefined {
  const parts = objectsIn(chunks).map((chunk) => ({ type: chunk['type'], payload: membersOf(chunk['payload']) }));
  const end = parts.findLast(({ type }) => type === 'finish')?.payload;
  if (end === undefined) return undefined;
  const results = new Map(
    parts.flatMap(({ type, payload }) =>
      type === 'tool-result' || type === 'tool-error' ? [[payload['toolCallId'], providerResult(type, payload)]] : [],
    ),
  );
  const blocks: ContentBlock[] = [];
  const calls: IssuedCall[] = [];
  for (const { type, payload } of parts) {
    if (type === 'text-delta' || type === 'reasoning-delta') {
      const kind = type === 'text-delta' ? 'text' : 'reasoning';
      const before = blocks.at(-1);
      const text = textOrEmpty(payload['text']);
      if (before?.type === kind) blocks[blocks.length - 1] = { type: kind, text: before.text + text };
      else blocks.push({ type: kind, text });
    } else if (type === 'tool-call') {
      const args = readArgs(payload['args']);
      const [id, name] = [textOrEmpty(payload['toolCallId']), textOrEmpty(payload['toolName'])];
      const answer = payload['providerExecuted'] === true ? results.get(id) : undefined;
      calls.push({ id, name, args, argsText: JSON.stringify(args), ...present({ answer }) });
      blocks.push({ type: 'tool_call', id, name, args });
    } else if (type === 'file' || type === 'source')
      blocks.push({ type: 'other', value: toJson({ type, ...payload }) });
  }
  const named = parts.find(({ type }) => type === 'response-metadata')?.payload['modelId'];
  return {
    message: {
      role: 'assistant',
      content: plainContent(blocks),
      ...present({
        modelId: textOrUndefined(named) ?? modelId,
        stopReason: textOrUndefined(membersOf(end['stepResult'])['reason']),
        usage: knownUsage(membersOf(end['output'])['usage']),
      }),
    },
    calls,
  };
}

/** Without counts from the provider, Mastra states zeros. */
function knownUsage(stated: unknown): ReturnType<typeof readUsage> {
  const usage = readUsage(stated);
  return usage?.inputTokens === 0 && (usage.outputTokens ?? 0) === 0 ? undefined : usage;
}

/** Returns the error of an answer that broke off. Undefined if the chunks contain none. */
export function errorInChunks(chunks: unknown): Error | undefined {
  const error = objectsIn(chunks)
    .map((chunk) => membersOf(chunk['payload'])['error'])
    .find((value) => value !== undefined && value !== null);
  if (error === undefined || error instanceof Error) return error;
  const { message, name } = membersOf(error);
  return Object.assign(
    new Error(textOrUndefined(message) ?? JSON.stringify(toJson(error))),
    present({ name: textOrUndefined(name) }),
  );
}

function providerResult(type: unknown, { result, error, isError }: Readonly<Record<string, unknown>>): CallResult {
  return { result: result ?? error, isError: type === 'tool-error' || isError === true };
}

function saysInvalid(result: unknown): boolean {
  return isJsonObject(result) && result['error'] === true && typeof result['message'] === 'string';
}
