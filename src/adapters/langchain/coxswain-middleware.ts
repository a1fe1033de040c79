import { isJsonObject } from '../../core/base/json.ts';
import { checkAdapter, currentRun, type RefusalOptions, type RunSource } from '../host/adapter-options.ts';
import type { Conversation } from '../host/conversation.ts';
import { Conversations } from '../host/conversations.ts';
import { guarded } from '../host/guarded.ts';
import type { IssuedCall } from '../host/issued-call.ts';
import { reportUnseen } from '../host/report-unseen.ts';
import { troubleOf } from '../host/run-outcome.ts';
import { RunScope } from '../host/run-scope.ts';
import { runTool } from '../host/run-tool.ts';
import {
  answerOfMessage,
  firstMessageOf,
  resultIdsOf,
  callOfMembers,
  newsOfMessages,
  outcomeOfMessage,
  sentModelCall,
  messageType,
  type ModelCallRequest,
} from './read-messages.ts';

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
  checkAdapter('coxswainMiddleware', source, options, { isRefused: true });
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
