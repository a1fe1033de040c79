import { isJsonObject, membersOf, objectsIn, textOrUndefined } from '../../core/base/json.ts';
import { checkAdapter, type RefusalOptions } from '../host/adapter-options.ts';
import { Conversations } from '../host/conversations.ts';
import { guarded } from '../host/guarded.ts';
import { newsOfItems, resultIdsOf, isModels } from '../host/response-items.ts';
import { reportUnseen } from '../host/report-unseen.ts';
import { followed } from '../host/run-outcome.ts';
import { RunScope } from '../host/run-scope.ts';
import { runTool, refusedArgs, type ToolParts } from '../host/run-tool.ts';
import type { Run } from '../../core/run/run.ts';
import type {
  ChatToolCall,
  ChatToolMessage,
  CustomToolCallOutput,
  FunctionCallOutput,
  ResponsesCustomCall,
  ResponsesFunctionCall,
  RunnableTool,
  ToolCall,
  RunnableFunction,
} from './sdk-shapes.ts';
import { steeredFetch, takeAnswer, unrecognisedEvent, type Fetch, type SteeredRequest } from '../host/steered-fetch.ts';
import { openaiApi, toIssuedCall, callsOfRunner } from './to-events.ts';
import { messageOf } from '../../core/base/error.ts';
import { toJson } from '../../core/base/to-json.ts';
import { decodedArgs } from '../host/content-blocks.ts';
import type { IssuedCall } from '../host/issued-call.ts';
import { acknowledgeToolDefinition } from '../../core/steering/feedback/acknowledge.ts';
import { answerAcknowledgement } from '../host/answer-acknowledgement.ts';
import type { SentRequest } from '../host/conversation.ts';
import type { AgentMessage } from '../../core/records/agent-message.ts';

export interface OpenAiOptions extends RefusalOptions {
  /**
   * Handling of an error of a tool. `throw` (default): the error is rethrown, as without coxswain, and `runTools` ends with
   * it. `result`: the model receives a message such as `Error: no such file` and may continue.
   */
  readonly onToolError?: 'throw' | 'result';
  /** Role of guidance messages in requests; default `system`. */
  readonly guidanceRole?: GuidanceRole;
}

/** Runs a call in a custom loop. Receives the arguments as the model wrote them. */
export type ExecuteCall = (argumentsText: string) => unknown;

/**
 * Steers one agent built on the openai package. Use a separate client for the agent, because everything that passes through
 * the client belongs to the run. Model requests from within a tool belong to a child run.
 */
export interface OpenAiSteering {
  /** Returns a `fetch` for `new OpenAI({ fetch })` that records requests and answers and adds guidance. Default `base`: the platform's. */
  fetch(base?: Fetch): Fetch;
  /** Returns a tool for `chat.completions.runTools` that records its calls and adds feedback to its results. */
  tool<Tool extends RunnableTool>(tool: Tool): Tool;
  /** Like `tool`, for a list of tools. */
  tools<const Tools extends readonly RunnableTool[]>(tools: Tools): { -readonly [At in keyof Tools]: Tools[At] };
  /**
   * Runs a call in a custom loop.
   *
   * @returns the tool message, or the item for the next input, with feedback if there is any
   * @throws the errors of `execute`, unless `onToolError` is `result`
   */
  runToolCall(call: ChatToolCall, execute: ExecuteCall): Promise<ChatToolMessage>;
  runToolCall(call: ResponsesFunctionCall, execute: ExecuteCall): Promise<FunctionCallOutput<never>>;
  runToolCall(call: ResponsesCustomCall, execute: ExecuteCall): Promise<CustomToolCallOutput<never>>;
  /** Like the above, for a call of which only the union of its types is known. */
  runToolCall(
    call: ResponsesFunctionCall | ResponsesCustomCall,
    execute: ExecuteCall,
  ): Promise<FunctionCallOutput<never> | CustomToolCallOutput<never>>;
  runToolCall(
    call: ToolCall,
    execute: ExecuteCall,
  ): Promise<ChatToolMessage | FunctionCallOutput<never> | CustomToolCallOutput<never>>;
  /** Like the above, with a type for the parts that `execute` returns, such as images. */
  runToolCall<Part>(call: ResponsesFunctionCall, execute: ExecuteCall): Promise<FunctionCallOutput<Part>>;
  runToolCall<Part>(call: ResponsesCustomCall, execute: ExecuteCall): Promise<CustomToolCallOutput<Part>>;
  /** Returns a tool for `runTools` with which the agent answers advice. */
  acknowledgeTool(): AcknowledgeTool;
  /** For clients whose `fetch` cannot be replaced: returns the body to send. Report the answer with `observe`. */
  prepareRequest<Body extends object>(body: Body): Body;
  /** For clients whose `fetch` cannot be replaced: reports a complete answer. Has no effect otherwise. */
  observe(answer: unknown): void;
  /**
   * Waits for the agent's work. If the work fails, the run ends with the outcome of the error. Results and errors are passed
   * on. Without this method, `run.end()` derives the outcome only from the last request.
   */
  follow<Result>(work: PromiseLike<Result>): Promise<Result>;
}

interface LastRequest {
  seen: number;
  /** True if the request names one function to call. `runTools` then ends with the result of that function. */
  endsWithTool: boolean;
}

/** Creates the steering of an agent built on the openai package. Works with any agent loop; see docs/openai.md. */
export function openaiSteering(run: Run, options: OpenAiOptions = {}): OpenAiSteering {
  checkAdapter('openaiSteering', run, options, {
    onToolError: true,
    isError: true,
    isRefused: true,
    guidanceRole: true,
  });
  const guard = guarded(run, options);
  const scope = new RunScope(() => run);
  const conversations = new Conversations(options, (): LastRequest => ({ seen: 0, endsWithTool: false }));
  reportUnseen(run, 'openai', {
    message: 'no request to a model was seen: create the client with new OpenAI({ fetch: steering.fetch() })',
    isSeen: () => conversations.of(run).conversation.hasAsked || run.analysis.calls > 0,
  });
  const parts: RunnableParts = {
    scope,
    guard,
    conversation: (call) => conversations.calling(scope.calling, call).conversation,
    onToolError: options.onToolError ?? 'throw',
    carries: () => !conversations.of(scope.calling).endsWithTool,
  };
  const prepare = (body: unknown, key: unknown): SteeredRequest | undefined => {
    const request = requestOf(body);
    if (request === undefined || !isJsonObject(body)) {
      scope.asking.emit(unrecognisedEvent(openaiApi, 'request', body));
      return undefined;
    }
    const { isChained, items } = request;
    const asking = isChained
      ? conversations.of(scope.asking)
      : conversations.asking(
          scope.asking,
          items.find((item) => membersOf(item)['role'] === 'user'),
          () => resultIdsOf(items),
        );
    const { conversation } = asking;
    const outgoing = conversation.request(key, newsOfItems(items, { seen: asking.seen, isChained }));
    asking.seen = isChained ? 0 : items.length;
    asking.endsWithTool = request.api === 'chat' && isJsonObject(body['tool_choice']);
    const { text } = outgoing;
    if (text === undefined) {
      conversation.sent(outgoing, sentRequest(body));
      return { conversation, outgoing, edited: undefined, channel: '' };
    }
    const { body: edited, channel } = withGuidance(body, request, { text, role: options.guidanceRole ?? 'system' });
    conversation.sent(outgoing, sentRequest(edited));
    return { conversation, outgoing, edited, channel };
  };
  let usesFetch = false;
  let prepared: SteeredRequest | undefined;
  return {
    fetch(base = globalThis.fetch) {
      usesFetch = true;
      return steeredFetch(base, {
        api: openaiApi,
        guard,
        prepare: (bodyText) => prepare(JSON.parse(bodyText), bodyText),
      });
    },
    tool: (tool) => guard('openai tool', () => steeredRunnable(parts, tool), tool),
    tools: (tools) => {
      const steered = guard('openai tools', () => tools.map((tool) => steeredRunnable(parts, tool)), [...tools]);
      // The list has the same length and the same types in each position.
      return steered as never;
    },
    acknowledgeTool: () =>
      steeredRunnable(
        parts,
        acknowledgeTool(() => scope.calling),
      ),
    async runToolCall(call: ToolCall, execute: ExecuteCall): Promise<never> {
      const issued = toIssuedCall(call);
      const { result, feedback } = await runTool(parts, { call: issued, run: () => execute(issued.argsText) });
      // The overloads define which output type belongs to which call type.
      return toolOutput(call, result, feedback) as never;
    },
    prepareRequest(body) {
      if (usesFetch) return body;
      const work = (): typeof body => {
        prepared?.outgoing.failed({ outcome: 'error', reason: 'no answer to the request was observed' });
        prepared = prepare(body, body);
        // The body has the same fields and one additional message.
        return (prepared?.edited ?? body) as typeof body;
      };
      return guard('openai request', work, body);
    },
    observe(answer) {
      if (usesFetch) return;
      const work = (): void => {
        const conversation = prepared?.conversation ?? conversations.of(scope.asking).conversation;
        prepared?.outgoing.accepted(prepared.channel);
        prepared = undefined;
        takeAnswer(openaiApi, conversation, answer);
      };
      guard('openai answer', work);
    },
    follow: (work) => followed(run, work),
  };
}

interface RunnableParts extends ToolParts {
  /** Returns true if feedback can be added to the tool's result. Returns false if the runner ends with that result. */
  readonly carries: () => boolean;
}

/** A tool made by the package's `zodFunction`. The callback is stored in a non-enumerable property. */
interface ParseableTool extends RunnableTool {
  readonly $callback: (...args: never) => unknown;
  readonly $parseRaw: (input: string) => unknown;
  readonly function: { readonly name: string };
}

function steeredRunnable<Tool extends RunnableTool>(parts: RunnableParts, tool: Tool): Tool {
  if (isParseable(tool)) {
    // `zodFunction` created this tool. Its callback takes the result of the parser.
    const callback = tool.$callback as RunnableFunction['function'];
    const { parse, function: run } = steeredFunction(parts, {
      name: tool.function.name,
      function: callback,
      parse: tool.$parseRaw,
    });
    const ownDescriptors = Object.getOwnPropertyDescriptors(tool);
    return Object.create(Object.getPrototypeOf(tool), {
      ...ownDescriptors,
      $callback: { ...ownDescriptors.$callback, value: run },
      $parseRaw: { ...ownDescriptors.$parseRaw, value: parse },
    });
  }
  const { function: inner } = tool;
  return isRunnable(inner) ? { ...tool, function: { ...inner, ...steeredFunction(parts, inner) } } : tool;
}

function isParseable(tool: RunnableTool): tool is ParseableTool {
  return '$callback' in tool && typeof tool.$callback === 'function' && '$parseRaw' in tool;
}

function isRunnable(inner: object | undefined): inner is RunnableFunction {
  return inner !== undefined && 'function' in inner && typeof inner.function === 'function';
}

function steeredFunction(parts: RunnableParts, inner: RunnableFunction): RunnableFunction {
  const name = inner.name ?? inner.function.name;
  const { parse } = inner;
  // The runner passes only the parsed arguments. The text of the arguments identifies the call in the message.
  const texts = new WeakMap<object, string>();
  const rememberArgs = (parsed: unknown, text: string): unknown => {
    if (typeof parsed === 'object' && parsed !== null) texts.set(parsed, text);
    return parsed;
  };
  const refuseArgs = (error: unknown, text: string): never => {
    const feedback = refusedArgs(parts, namelessCall(name, text), error);
    // The runner uses the error message as the tool's result.
    throw feedback === undefined ? error : new Error(withFeedback(messageOf(error), feedback), { cause: error });
  };
  return {
    name,
    ...(parse === undefined
      ? {}
      : {
          parse: (text) => {
            try {
              const parsed = parse.call(inner, text);
              if (!(parsed instanceof Promise)) return rememberArgs(parsed, text);
              return parsed.then(
                (value) => rememberArgs(value, text),
                (error: unknown) => refuseArgs(error, text),
              );
            } catch (error) {
              return refuseArgs(error, text);
            }
          },
        }),
    function: async (args, runner, context) => {
      const { result, feedback } = await runTool(parts, {
        call: namelessCall(name, argsTextOf(args, texts)),
        beside: parts.guard('tool', () => callsOfRunner(runner), []),
        run: () => inner.function(args, runner, context),
        isAborted: () => isAborted(runner),
        carries: parts.carries,
      });
      return feedback === undefined ? result : withFeedback(runnerText(result), feedback);
    },
  };
}

function argsTextOf(args: unknown, texts: WeakMap<object, string>): string {
  if (typeof args === 'string') return args;
  const text = typeof args === 'object' && args !== null ? texts.get(args) : undefined;
  return text ?? JSON.stringify(toJson(args));
}

function namelessCall(name: string, argsText: string): IssuedCall {
  return { id: '', name, args: decodedArgs(argsText), argsText };
}

/** Returns true if the runner was aborted. It then ends regardless of what its tools return. */
function isAborted(runner: unknown): boolean {
  const controller = isJsonObject(runner) ? runner['controller'] : undefined;
  return isJsonObject(controller) && controller['signal'] instanceof AbortSignal && controller['signal'].aborted;
}

/** The acknowledge tool for `chat.completions.runTools`. */
export interface AcknowledgeTool {
  type: 'function';
  function: {
    name: string;
    description: string;
    parameters: object;
    parse: (text: string) => object;
    function: (args: object) => string;
  };
}

/** @param run returns the run that the answer belongs to */
function acknowledgeTool(run: () => Run): AcknowledgeTool {
  const { name, description, inputSchema } = acknowledgeToolDefinition;
  return {
    type: 'function',
    function: {
      name,
      description,
      parameters: inputSchema,
      // The model's arguments are read field by field. A value that is not an object has no fields.
      parse: (text) => Object(JSON.parse(text)),
      function: (args) => answerAcknowledgement(run(), args),
    },
  };
}

export type GuidanceRole = 'system' | 'developer' | 'user';

type Members = Readonly<Record<string, unknown>>;

/**
 * The last message, so that the provider can use its cache for all before it. If the provider stores the input, the
 * text goes to `instructions`, which do not apply to later requests.
 *
 * @returns the body and the channel of the text
 */
export function withGuidance(
  body: Members,
  request: ModelRequest,
  guidance: { readonly text: string; readonly role: GuidanceRole },
): { readonly body: Members; readonly channel: string } {
  const { text: content, role } = guidance;
  if (request.api === 'chat') return { body: { ...body, messages: [...request.items, { role, content }] }, channel };
  if (request.startsChain) return { body: withInstructions(body, content), channel: 'instructions' };
  return { body: { ...body, input: [...request.items, { role, content }] }, channel };
}

const channel = 'request';

function withInstructions(body: Members, text: string): Members {
  const { instructions } = body;
  return { ...body, instructions: typeof instructions === 'string' ? `${instructions}\n\n${text}` : text };
}

/** Returns the text that `runTools` creates from a tool's return value. */
export function runnerText(result: unknown): string {
  if (typeof result === 'string') return result;
  // JSON omits undefined, functions and symbols.
  const text: unknown = JSON.stringify(result);
  return typeof text === 'string' ? text : 'undefined';
}

function withFeedback(text: string, feedback: string): string {
  return `${text}\n\n${feedback}`;
}

export function toolOutput(
  call: ToolCall,
  result: unknown,
  feedback: string | undefined,
): ChatToolMessage | FunctionCallOutput<unknown> | CustomToolCallOutput<unknown> {
  switch (call.type) {
    case 'function_call':
    case 'custom_tool_call':
      return {
        type: `${call.type}_output`,
        ...callerOf(call),
        call_id: call.call_id,
        output: outputParts(result, feedback),
      };
    default:
      return { role: 'tool', tool_call_id: call.id, content: chatContent(result, feedback) };
  }
}

/** If a program that the model wrote made the call, its output must name the same program. */
function callerOf(call: object): object {
  const caller = 'caller' in call ? call.caller : undefined;
  return isJsonObject(caller) ? { caller } : {};
}

function chatContent(result: unknown, feedback: string | undefined): ChatToolMessage['content'] {
  if (isPartList(result)) {
    const feedbackParts = feedback === undefined ? [] : [{ type: 'text', text: feedback } as const];
    // The parts come from the caller. Only the caller and the API know their types.
    return [...(result as ChatToolMessage['content'] & object), ...feedbackParts];
  }
  const text = ownText(result);
  return feedback === undefined ? text : withFeedback(text, feedback);
}

function outputParts(result: unknown, feedback: string | undefined): FunctionCallOutput<unknown>['output'] {
  const feedbackParts = feedback === undefined ? [] : [{ type: 'input_text', text: feedback } as const];
  if (isPartList(result)) return [...result, ...feedbackParts];
  const text = ownText(result);
  return feedback === undefined ? text : [{ type: 'input_text', text }, ...feedbackParts];
}

/** Returns true for a list of content parts. Any other list is a plain value. */
function isPartList(result: unknown): result is readonly Members[] {
  if (!Array.isArray(result) || result.length === 0) return false;
  return result.every((part) => isJsonObject(part) && PART_TYPES.has(part['type']));
}

const PART_TYPES: ReadonlySet<unknown> = new Set(['text', 'input_text', 'input_image', 'input_file']);

function ownText(result: unknown): string {
  return result === undefined || result === null ? '' : runnerText(result);
}

export interface ModelRequest {
  readonly api: 'chat' | 'responses';
  /** Messages of chat completions, or items of the Responses input. */
  readonly items: readonly unknown[];
  /** True if the provider stores earlier turns. The items are then only the new ones. */
  readonly isChained: boolean;
  /** True if the provider may store the items for later requests. */
  readonly startsChain: boolean;
}

export function requestOf(body: unknown): ModelRequest | undefined {
  if (!isJsonObject(body)) return undefined;
  const { messages, input, store } = body;
  if (Array.isArray(messages)) return { api: 'chat', items: messages, isChained: false, startsChain: false };
  const items: unknown = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  if (!Array.isArray(items)) return undefined;
  const isChained = isSet(body['previous_response_id']) || isSet(body['conversation']);
  // A caller that sends the model's own messages keeps the history itself.
  const startsChain = isChained || (store !== false && !items.some(isModels));
  return { api: 'responses', items, isChained, startsChain };
}

function sentRequest(body: Readonly<Record<string, unknown>>): SentRequest {
  const { model, instructions, messages, input, tools } = body;
  const items: readonly unknown[] = Array.isArray(messages) ? messages : Array.isArray(input) ? input : [input];
  const offeredTools = objectsIn(tools);
  const system = newsOfItems(items, { seen: 0, isChained: true }).messages.filter(({ role }) => role === 'system');
  return {
    modelId: textOrUndefined(model),
    systemPrompt: [textOrUndefined(instructions) ?? [], ...system.map(({ content }) => textOfMessage(content))]
      .flat()
      .join('\n\n'),
    messages: items,
    tools: offeredTools.map(
      ({ type, name, function: functionFields }) =>
        textOrUndefined(isJsonObject(functionFields) ? functionFields['name'] : name) ?? String(type),
    ),
    isClosed: offeredTools.every(({ type }) => type === 'function'),
  };
}

function textOfMessage(content: AgentMessage['content']): string {
  if (typeof content === 'string') return content;
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}
