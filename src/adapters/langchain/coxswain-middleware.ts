import { isJsonObject, present } from '../../core/base/json.ts';
import { checkAdapter, currentRun, type RefusalOptions, type RunSource } from '../host/adapter-options.ts';
import type { Conversation, ConversationAnswer, RequestNews, SentRequest } from '../host/conversation.ts';
import { Conversations } from '../host/conversations.ts';
import { guarded } from '../host/guarded.ts';
import type { IssuedCall, CallResult } from '../host/issued-call.ts';
import { reportUnseen } from '../host/report-unseen.ts';
import { troubleOf } from '../host/run-outcome.ts';
import { RunScope } from '../host/run-scope.ts';
import { runTool } from '../host/run-tool.ts';
import type { AgentMessage } from '../../core/records/agent-message.ts';
import { contentBlocks, plainContent, resultOf, usageOf } from '../host/content-blocks.ts';
import { unseenItems } from '../host/unseen-items.ts';

/** Functions of `langchain`. Pass the exports that have these names. */
export interface LangchainHandles<Middleware> {
  readonly createMiddleware: (config: never) => Middleware;
  readonly ToolMessage: new (fields: never) => object;
  readonly HumanMessage: new (fields: never) => object;
}

type Handler = (request: object) => Promise<unknown>;

/**
 * Creates a middleware for `createAgent` and `createDeepAgent`. It reports requests, answers and calls to `run`, and delivers
 * the run's advice to the model. Model requests from within a tool, for example from a subagent with the same middleware,
 * belong to a child run. End the run with `run.end()`. An agent that outlives its runs gets a function that returns the run.
 *
 * In LangChain, a middleware with `wrapToolCall` makes an error of a tool end the agent. This middleware handles the error as
 * an agent without middleware does.
 */
export function coxswainMiddleware<Middleware>(
  source: RunSource,
  { createMiddleware, ToolMessage, HumanMessage }: LangchainHandles<Middleware>,
  options: RefusalOptions = {},
): Middleware {
  checkAdapter('coxswainMiddleware', source, options, { isError: true, isRefused: true });
  const guard = guarded(source, options);
  const scope = new RunScope(currentRun('langchain', source));
  /** The state is the message count and the system prompt of the last request. */
  const conversations = new Conversations(options, () => ({ seen: 0, system: '' }));
  if (typeof source !== 'function') {
    const { conversation } = conversations.of(source);
    reportUnseen(source, 'langchain', {
      message: 'no request to a model was seen: pass the middleware to createAgent({ middleware: [...] })',
      isSeen: () => conversation.hasAsked || source.analysis.calls > 0,
    });
  }
  const make = (Message: new (fields: never) => object, fields: object): object => new Message(fields as never);

  const wrapModelCall = async (request: ModelCallRequest & object, handler: Handler): Promise<unknown> => {
    const asking = conversations.asking(scope.asking, firstMessageOf(request), () => resultIdsOf(request));
    const { conversation } = asking;
    await conversation.run.ready();
    const outgoing = guard('langchain request', () =>
      conversation.request(request.messages, newsOfMessages(request, asking)),
    );
    const text = outgoing?.text;
    const messages =
      text === undefined ? request.messages : [...request.messages, make(HumanMessage, { content: text })];
    const edited = text === undefined ? request : { ...request, messages };
    const sentRequest = sentModelCall({ ...request, messages });
    guard('langchain request', () => {
      asking.seen = request.messages.length;
      asking.system = sentRequest.systemPrompt;
      if (outgoing !== undefined) conversation.sent(outgoing, sentRequest);
    });
    let answer: unknown;
    try {
      answer = await handler(edited);
    } catch (error) {
      guard('langchain request', () => outgoing?.failed(troubleOf(error)));
      throw error;
    }
    guard('langchain answer', () => {
      outgoing?.accepted('request');
      const modelAnswer = answerOfMessage(answer, sentRequest.modelId);
      if (modelAnswer !== undefined) conversation.answered(modelAnswer);
      else conversation.run.emit({ type: 'unrecognised', original: { kind: 'langchain/answer', type: typeof answer } });
    });
    return answer;
  };

  const wrapToolCall = async (request: { readonly toolCall: object }, handler: Handler): Promise<unknown> => {
    const call = callOfMembers({ ...request.toolCall });
    let returned: { readonly value: unknown } | undefined;
    let leaves = false;
    const work = async (): Promise<unknown> => {
      try {
        returned = { value: await handler(request) };
        return outcomeOfMessage(returned.value).result;
      } catch (error) {
        leaves = leavesAgent(error);
        throw error;
      }
    };
    const conversation = (issued: IssuedCall): Conversation =>
      conversations.calling(scope.calling, issued).conversation;
    const isError = (): boolean => returned !== undefined && outcomeOfMessage(returned.value).isError;
    const { result, feedback } = await runTool(
      { scope, guard, conversation, onToolError: 'result', isError },
      {
        call,
        run: work,
        isAborted: () => leaves,
        carries: () => returned === undefined || messageType(returned.value) === 'tool',
      },
    );
    if (returned === undefined) {
      const content = withFeedback(`${String(result)}\n Please fix your mistakes.`, feedback);
      return make(ToolMessage, { content, tool_call_id: call.id, name: call.name, status: 'error' });
    }
    const { value } = returned;
    if (feedback === undefined || !isJsonObject(value)) return value;
    return make(ToolMessage, { ...fieldsOf(value), content: withFeedback(value['content'], feedback) });
  };

  return createMiddleware({ name: 'coxswain', wrapModelCall, wrapToolCall } as never);
}

/** The fields of a tool message that its constructor takes. It keeps what it is given a second time, under `lc_kwargs`. */
function fieldsOf(message: Readonly<Record<string, unknown>>): object {
  const names = [
    'tool_call_id',
    'name',
    'status',
    'artifact',
    'metadata',
    'additional_kwargs',
    'response_metadata',
    'id',
  ];
  return Object.fromEntries(names.flatMap((name) => (message[name] === undefined ? [] : [[name, message[name]]])));
}

function withFeedback(content: unknown, feedback: string | undefined): unknown {
  if (feedback === undefined) return content;
  if (Array.isArray(content)) return [...(content as readonly unknown[]), { type: 'text', text: feedback }];
  return `${String(content)}\n\n${feedback}`;
}

/** Returns true for errors that LangChain handles itself: interrupts, aborts, and invalid arguments. */
function leavesAgent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ('is_bubble_up' in error || LEAVING.has(error.name)) return true;
  return leavesAgent(error.cause);
}

const LEAVING: ReadonlySet<string> = new Set([
  'GraphInterrupt',
  'NodeInterrupt',
  'ToolInvocationError',
  'AbortError',
  'GraphBubbleUp',
]);

type Members = Readonly<Record<string, unknown>>;

/** A model request as `wrapModelCall` receives it. Other fields are passed on unchanged. */
interface ModelCallRequest {
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

function firstMessageOf({ messages }: ModelCallRequest): unknown {
  return membersOf(messages.find((message) => messageType(message) === 'human'))['content'];
}

function resultIdsOf({ messages }: ModelCallRequest): readonly string[] {
  return messages.flatMap((message) => wordOf(membersOf(message)['tool_call_id']) ?? []);
}

function sentModelCall({ messages, systemPrompt, tools, model }: ModelCallRequest): SentRequest {
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
function answerOfMessage(answer: unknown, modelId: string | undefined): ConversationAnswer | undefined {
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

function callOfMembers({ id, name, args }: Members): IssuedCall {
  return {
    id: wordOf(id) ?? '',
    name: wordOf(name) ?? 'unknown',
    args: args ?? {},
    argsText: JSON.stringify(args ?? {}),
  };
}

/** Reads the result of a tool: a tool message, or a `Command` that contains one. */
function outcomeOfMessage(returnedValue: unknown): CallResult {
  const update = membersOf(membersOf(returnedValue)['update'])['messages'];
  const inCommand: unknown = Array.isArray(update)
    ? update.findLast((message) => messageType(message) === 'tool')
    : undefined;
  const message = membersOf(inCommand ?? returnedValue);
  if (messageType(message) !== 'tool') return { result: returnedValue, isError: false };
  return { result: resultOf(message['content']), isError: message['status'] === 'error' };
}

function messageType(message: unknown): string | undefined {
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
