import { statedOutcome } from '../../core/run/refusal.ts';
import { hashText } from '../../core/base/hash.ts';
import { messageOf } from '../../core/base/error.ts';
import {
  isJsonObject,
  listOf,
  membersOf,
  textOrEmpty,
  textOrUndefined,
  objectsIn,
  present,
} from '../../core/base/json.ts';
import { toJson } from '../../core/base/to-json.ts';
import type { PromptMessage } from '../ai-sdk/sdk-shapes.ts';
import { resultsIn, systemTextOf, readOutput, unansweredMessages } from '../ai-sdk/to-events.ts';
import { withMessage } from '../ai-sdk/to-output.ts';
import type { OutgoingRequest } from '../host/advice-under-way.ts';
import { checkAdapter, currentRun, type RefusalOptions, type RunSource } from '../host/adapter-options.ts';
import { Conversations, type Followed } from '../host/conversations.ts';
import { guarded } from '../host/guarded.ts';
import { type CallResult, issuedCall } from '../host/issued-call.ts';
import type { OpenCall } from '../host/open-calls.ts';
import { reportUnseen } from '../host/report-unseen.ts';
import { abortedBy, troubleOf, type Trouble } from '../host/run-outcome.ts';
import { RunScope } from '../host/run-scope.ts';
import type { AgentMessage } from '../../core/records/agent-message.ts';
import { readArgs, readUsage } from '../ai-sdk/read-answer.ts';
import { type AnswerPart, answerOfParts, callPart } from '../host/answer-parts.ts';
import type { ConversationAnswer, RequestNews } from '../host/conversation.ts';
import { unseenItems } from '../host/unseen-items.ts';

/** What Mastra passes to a processor around a model request. Contains only the members that coxswain uses. */
interface StepArgs {
  readonly prompt: readonly PromptMessage[];
  readonly model?: unknown;
  readonly tools?: unknown;
  readonly chunks?: unknown;
  readonly messageList?: unknown;
  readonly abortSignal?: { readonly aborted: boolean; readonly reason?: unknown };
  /** One object for all steps of one `generate` or `stream`. */
  readonly state: object;
}

/** What Mastra passes to a hook around a tool. `context` is one object before and after. */
interface ToolHookArgs {
  readonly toolName: string;
  readonly input: unknown;
  readonly context?: unknown;
  readonly output?: unknown;
  readonly error?: unknown;
}

interface ConversationState {
  /** Number of messages in the last request. */
  seen: number;
  system: string;
  outgoing: OutgoingRequest | undefined;
}

interface RunningTool {
  readonly conversation: Followed<ConversationState>['conversation'];
  readonly call: OpenCall;
  readonly leave: () => void;
}

/** Connects a run to the agents of Mastra. */
export interface CoxswainMastra {
  /**
   * Returns the configuration of an agent with a watching processor and tool hooks: `new Agent(cox.wrap({ … }))`. The processors
   * and hooks of the configuration stay; its hooks run inside of the watching ones. Hooks given to a single `generate` replace
   * those of the agent in Mastra: its calls are then read from the next request.
   */
  wrap<Config extends object>(config: Config): Config;
}

const NO_ANSWER: Trouble = { outcome: 'error', reason: 'the model gave no answer' };

const NONE: ReadonlySet<unknown> = new Set();

const UNSEEN = 'no request to a model was seen: create the agent with new Agent(cox.wrap({ ... }))';

/**
 * Connects a run to agents of `@mastra/core` 1: records model requests, answers and tool calls, and delivers the run's advice
 * with the next request. An agent that runs inside a tool of another one, such as one of `agents`, belongs to a child run. End
 * the run with `run.end()`.
 *
 * @param source  the run, or a function that returns the run of the current request, for an agent that outlives its runs
 * @throws CoxswainError "invalid-argument" for an option out of range
 */
export function coxswainMastra(source: RunSource, options: RefusalOptions = {}): CoxswainMastra {
  checkAdapter('coxswainMastra', source, options, { isError: true, isRefused: true });
  const guard = guarded(source, options);
  const scope = new RunScope(currentRun('mastra', source));
  const conversations = new Conversations<ConversationState>(options, () => ({
    seen: 0,
    system: '',
    outgoing: undefined,
  }));
  if (typeof source !== 'function') {
    const { conversation } = conversations.of(source);
    reportUnseen(source, 'mastra', { message: UNSEEN, isSeen: () => conversation.hasAsked });
  }
  const asked = new WeakMap<object, Followed<ConversationState>>();
  const toolsOf = new WeakMap<object, readonly string[]>();
  const running = new WeakMap<object, RunningTool>();

  const request = (args: StepArgs): string | undefined => {
    const { prompt, state } = args;
    const asking = conversations.asking(scope.asking, prompt.find(({ role }) => role === 'user')?.content, () =>
      resultsIn(prompt).map(({ id }) => id),
    );
    const { conversation } = asking;
    // A model of the agent's list that gave no answer is followed by the next one.
    asking.outgoing?.failed(NO_ANSWER);
    // Only a call that has not run can have been declined.
    const deniedIds = conversation.notStarted().length === 0 ? NONE : deniedIn(args.messageList);
    const outgoing = conversation.request(keyOf(prompt), newsOfPrompt(prompt, asking, deniedIds));
    const systemPrompt = systemTextOf(prompt);
    Object.assign(asking, { seen: prompt.length, system: systemPrompt, outgoing });
    asked.set(state, asking);
    const tools = toolsOf.get(state);
    const messages = outgoing.text === undefined ? prompt : withMessage(prompt, outgoing.text);
    conversation.sent(outgoing, {
      modelId: textOrUndefined(Object(args.model)['modelId']),
      systemPrompt,
      messages,
      tools: tools ?? [],
      isClosed: tools !== undefined,
    });
    return outgoing.text;
  };

  const response = ({ chunks, state, model, abortSignal }: StepArgs): void => {
    const asking = asked.get(state);
    const outgoing = asking?.outgoing;
    if (asking === undefined || outgoing === undefined) return;
    asking.outgoing = undefined;
    const error = errorInChunks(chunks);
    const answer = answerOfChunks(chunks, textOrUndefined(Object(model)['modelId']));
    if (error === undefined && answer !== undefined) {
      outgoing.accepted('request');
      asking.conversation.answered(answer);
      return;
    }
    if (abortSignal?.aborted === true) outgoing.failed(abortedBy(abortSignal));
    else outgoing.failed(error === undefined ? NO_ANSWER : troubleOf(error));
  };

  const before = ({ toolName, input, context }: ToolHookArgs): void => {
    const call = issuedCall({ id: membersOf(context)['toolCallId'], name: toolName, args: toJson(input ?? {}) });
    const { conversation } = conversations.calling(scope.calling, call);
    const open = conversation.callOf(call);
    conversation.started(open);
    if (isJsonObject(context))
      running.set(context, { conversation, call: open, leave: scope.enter(conversation.run, toolName) });
  };

  const after = ({ context }: ToolHookArgs, result: CallResult): void => {
    const tool = isJsonObject(context) ? running.get(context) : undefined;
    if (tool === undefined) return;
    tool.leave();
    tool.conversation.later(tool.conversation.ended(tool.call, result));
  };

  const processor = {
    id: 'coxswain',
    processInputStep: ({ tools, state }: StepArgs): void => {
      guard('mastra step', () => toolsOf.set(state, Object.keys(membersOf(tools))));
    },
    processLLMRequest: async (args: StepArgs): Promise<{ prompt: readonly PromptMessage[] } | undefined> => {
      await scope.asking.ready();
      const text = guard('mastra request', () => request(args));
      return text === undefined ? undefined : { prompt: withMessage(args.prompt, text) };
    },
    processLLMResponse: (args: StepArgs): void => guard('mastra answer', () => response(args)),
  };

  const watchedHooks = (own: unknown): object => {
    const { beforeToolCall, afterToolCall } = membersOf(own);
    return {
      // Not async: what it enters must hold for the tool that the caller runs next.
      beforeToolCall: (args: ToolHookArgs): unknown => {
        guard('mastra tool', () => before(args));
        if (typeof beforeToolCall !== 'function') return undefined;
        return decided(beforeToolCall(args), (decision) => {
          const { proceed, output } = membersOf(decision);
          if (proceed === false)
            guard('mastra tool', () => after(args, { result: output, isError: true, outcome: 'refused' }));
        });
      },
      afterToolCall: async (args: ToolHookArgs): Promise<void> => {
        const { error, output } = args;
        const failed = error !== undefined && error !== null;
        guard('mastra tool', () =>
          after(
            args,
            failed
              ? { result: errorText(error), isError: true, outcome: statedOutcome(causeOf(error)) }
              : // Mastra answers invalid arguments itself, with `error: true`.
                { result: output, isError: saysInvalid(output) },
          ),
        );
        if (typeof afterToolCall === 'function') await afterToolCall(args);
      },
    };
  };

  return {
    wrap: (config) => ({
      ...config,
      inputProcessors: appended(Reflect.get(config, 'inputProcessors'), processor),
      hooks: watchedHooks(Reflect.get(config, 'hooks')),
    }),
  };
}

/** Appends the processor, so that it sees the request as it is sent. A function resolves processors per request. */
function appended(own: unknown, processor: object): unknown {
  if (typeof own === 'function')
    return async (...args: readonly unknown[]): Promise<readonly unknown[]> => [
      ...listOf(await own(...args)),
      processor,
    ];
  return [...listOf(own), processor];
}

function decided(decision: unknown, then: (decision: unknown) => void): unknown {
  if (decision instanceof Promise) return decision.then((value: unknown) => (then(value), value));
  then(decision);
  return decision;
}

/** A retry of a request has the same messages. */
function keyOf(prompt: readonly PromptMessage[]): string {
  return `${prompt.length} ${hashText(JSON.stringify(prompt.at(-1)) ?? '')}`;
}

/** Mastra wraps the error of a tool; the model reads the message. */
function errorText(error: unknown): string {
  return isJsonObject(error) && typeof error['message'] === 'string' ? error['message'] : messageOf(error);
}

/** The error of the tool, which Mastra keeps as the cause of its own. */
function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? error.cause : error;
}

/**
 * Returns the part of a request that is new since the last one, which had `seen` messages and the system prompt `system`. The
 * request has the prompt format of the AI SDK.
 *
 * @param deniedIds  calls that a person declined; their results look like those of a tool
 */
function newsOfPrompt(
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
function deniedIn(messageList: unknown): ReadonlySet<unknown> {
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
  const answered: AnswerPart[] = [];
  for (const { type, payload } of parts) {
    if (type === 'text-delta' || type === 'reasoning-delta') {
      const kind = type === 'text-delta' ? 'text' : 'reasoning';
      const before = answered.at(-1)?.block;
      const text = textOrEmpty(payload['text']);
      if (before?.type === kind) answered.pop();
      answered.push({ block: { type: kind, text: before?.type === kind ? before.text + text : text } });
    } else if (type === 'tool-call') {
      const args = readArgs(payload['args']);
      const [id, name] = [textOrEmpty(payload['toolCallId']), textOrEmpty(payload['toolName'])];
      const answer = payload['providerExecuted'] === true ? results.get(id) : undefined;
      answered.push(callPart({ ...issuedCall({ id, name, args }), ...present({ answer }) }));
    } else if (type === 'file' || type === 'source')
      answered.push({ block: { type: 'other', value: toJson({ type, ...payload }) } });
  }
  const named = parts.find(({ type }) => type === 'response-metadata')?.payload['modelId'];
  return answerOfParts(answered, {
    modelId: textOrUndefined(named) ?? modelId,
    stopReason: textOrUndefined(membersOf(end['stepResult'])['reason']),
    usage: knownUsage(membersOf(end['output'])['usage']),
  });
}

/** Without counts from the provider, Mastra states zeros. */
function knownUsage(stated: unknown): ReturnType<typeof readUsage> {
  const usage = readUsage(stated);
  return usage?.inputTokens === 0 && (usage.outputTokens ?? 0) === 0 ? undefined : usage;
}

/** Returns the error of an answer that broke off. Undefined if the chunks contain none. */
function errorInChunks(chunks: unknown): Error | undefined {
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
