import { isJsonObject, objectsIn } from '../../core/base/json.ts';
import { checkAdapter, type RefusalOptions } from '../host/adapter-options.ts';
import { guarded, type Guard } from '../host/guarded.ts';
import { callOfItem, itemOutcome } from '../host/response-items.ts';
import { reportUnseen } from '../host/report-unseen.ts';
import { followed } from '../host/run-outcome.ts';
import { runTool, type ToolParts } from '../host/run-tool.ts';
import type { Run } from '../../core/run/run.ts';
import { AgentRuns } from './agent-runs.ts';
import { attachTo } from './attached-runner.ts';
import type { AgentShape, FunctionTool, Model, ModelProvider, ModelRequest, RunnerShape } from './sdk-shapes.ts';
import {
  isSteered,
  steeredModel,
  steeredProvider,
  type SteeredModelParts,
  type SteeredRequest,
} from './steered-model.ts';
import {
  itemsOf,
  newsOf,
  saysThatItFailed,
  sentRequest,
  unrecognisedEvent,
  isChained,
  refusedBySdk,
} from './to-events.ts';
import { acknowledgeToolDefinition } from '../../core/steering/feedback/acknowledge.ts';
import { answerAcknowledgement } from '../host/answer-acknowledgement.ts';
import { decodedArgs } from '../host/content-blocks.ts';
import type { CallResult } from '../host/issued-call.ts';

/**
 * The SDK keeps its own list, so neither its history nor a session has the message. If the provider stores the input,
 * the text goes to the instructions, which it does not store.
 *
 * @returns the request and the channel of the text
 */
export function withGuidance<Request extends ModelRequest>(
  request: Request,
  items: readonly unknown[],
  text: string,
): { readonly request: Request; readonly channel: string } {
  if (!isChained(request)) {
    const input = [...items, { type: 'message', role: 'system', content: text }];
    return { request: { ...request, input }, channel: 'request' };
  }
  const { systemInstructions } = request;
  const instructions = systemInstructions === undefined ? text : `${systemInstructions}\n\n${text}`;
  return { request: { ...request, systemInstructions: instructions }, channel: 'instructions' };
}

/** Appends feedback to a tool's result. Call it only for results that `carriesFeedback` accepts. */
export function withFeedback(result: unknown, feedback: string): unknown {
  const feedbackPart = { type: 'text', text: feedback };
  if (isPart(result)) return [result, feedbackPart];
  if (isPartList(result)) return [...result, feedbackPart];
  return `${ownText(result)}\n\n${feedback}`;
}

function ownText(result: unknown): string {
  switch (typeof result) {
    case 'string':
      return result;
    case 'number':
    case 'boolean':
    case 'undefined':
      return String(result);
    default:
      return JSON.stringify(result);
  }
}

/** Not if a schema describes the result, or if it contains bytes, which the SDK converts to its own text. */
export function carriesFeedback(tool: FunctionTool, result: unknown): boolean {
  if (tool.outputSchema !== undefined) return false;
  return isPart(result) || isPartList(result) || isPlain(result);
}

/** Returns true if the SDK may end the run with a tool's result. The user then reads the result, so no feedback may be added. */
export function mayEndWith(agent: AgentShape | undefined, toolName: string): boolean {
  const behaviour = agent?.toolUseBehavior;
  if (behaviour === undefined || behaviour === 'run_llm_again') return false;
  const names = isJsonObject(behaviour) ? behaviour['stopAtToolNames'] : undefined;
  return Array.isArray(names) ? names.includes(toolName) : true;
}

function isPart(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { type, text, image, file } = value;
  if (type === 'text') return typeof text === 'string';
  return (type === 'image' && image !== undefined) || (type === 'file' && file !== undefined);
}

function isPartList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > 0 && value.every(isPart);
}

const MAX_DEPTH = 16;

const JSON_TYPES: ReadonlySet<string> = new Set(['string', 'number', 'boolean', 'undefined']);

/** Returns true for a value that the SDK serialises as standard JSON. */
function isPlain(value: unknown, depth = 0): boolean {
  if (value === null || JSON_TYPES.has(typeof value)) return true;
  // JSON omits functions and rejects bigints.
  if (typeof value !== 'object') return depth > 0 && typeof value !== 'bigint';
  if (depth > MAX_DEPTH) return false;
  if (Array.isArray(value)) return value.every((item) => isPlain(item, depth + 1));
  const prototype: unknown = Object.getPrototypeOf(value);
  const isObject = prototype === Object.prototype || prototype === null;
  // A serialised buffer, which the SDK shortens.
  if (!isObject || ('type' in value && value.type === 'Buffer')) return false;
  return Object.values(value).every((item) => isPlain(item, depth + 1));
}

/** The SDK's own messages of failures are recognised; set `isError` for the text of a tool's own `errorFunction`. */
export type AgentsOptions = RefusalOptions;

/** Steers one agent of the @openai/agents package. Its handoffs, and the agents it uses as tools, each get a child run. */
export interface AgentsSteering {
  /** Listens to a runner and steers the models that it resolves by name, until the run ends. Returns the runner. */
  attach<Runner extends RunnerShape>(runner: Runner): Runner;
  /** Returns a steered model instance for an agent. `attach` steers only models that are resolved by name. */
  model<Wrapped extends Model>(model: Wrapped): Wrapped;
  /** Returns a steered provider of models. Use it if there is no runner. */
  modelProvider<Provider extends ModelProvider>(provider: Provider): Provider;
  /** Records the calls of a function tool and adds feedback. Other tools, also agents as tools, are returned unchanged. */
  tool<Tool extends { readonly type: string }>(tool: Tool): Tool;
  /** Like `tool`, for a list of tools. */
  tools<const Tools extends readonly { readonly type: string }[]>(
    tools: Tools,
  ): { -readonly [At in keyof Tools]: Tools[At] };
  acknowledgeTool(): AcknowledgeTool;
  /**
   * Waits for the agent's work. If the work fails, the run ends with the outcome of the error. Results and errors are passed
   * on. Without this method, `run.end()` derives the outcome only from the last request.
   */
  follow<Result>(work: PromiseLike<Result>): Promise<Result>;
}

const UNSEEN =
  'no request to a model was seen: run agents with steering.attach(new Runner()).run(agent, input), because run() of the ' +
  'package uses its own runner; or give each agent model: steering.model(yourModel)';

/** Creates the steering of agents of the @openai/agents package: see docs/openai-agents.md. */
export function coxswainAgents(run: Run, options: AgentsOptions = {}): AgentsSteering {
  checkAdapter('coxswainAgents', run, options, { isError: true, isRefused: true });
  const guard = guarded(run, options);
  const runs = new AgentRuns(run, options);
  const wrapped = new WeakSet<object>();
  let isAttached = false;
  const parts: ToolParts = {
    scope: runs.scope,
    guard,
    conversation: () => runs.calling().conversation,
    // `tool()` turns exceptions into a result. If it does not, the user wants the exception to end the run.
    onToolError: 'throw',
    isError: saysThatItFailed,
  };
  const prepare = (request: ModelRequest, modelId: string | undefined): SteeredRequest | undefined => {
    const asking = runs.of(runs.scope.asking);
    const { conversation } = asking;
    const items = itemsOf(request);
    if (items === undefined) {
      conversation.run.emit(unrecognisedEvent('request', request.input));
      return undefined;
    }
    const outgoing = conversation.request(request.input, newsOf(request, items, asking, isAttached));
    asking.seen = items.length;
    asking.instructions = request.systemInstructions;
    const guided = outgoing.text === undefined ? undefined : withGuidance(request, items, outgoing.text);
    const { request: edited, channel } = guided ?? { request, channel: '' };
    conversation.sent(outgoing, sentRequest(edited, modelId));
    return { conversation, outgoing, request: edited, channel };
  };
  const models: SteeredModelParts = { prepare, guard };
  const hinted = new Set<string>();
  const onAgent = (agent: AgentShape): void => {
    const { model, name } = agent;
    if (typeof model !== 'object' || model === null || isSteered(models, model) || hinted.has(name)) return;
    hinted.add(name);
    run.reportFault(
      'openai-agents model',
      new Error(`requests of agent "${name}" are not seen: give it model: steering.model(yourModel)`),
    );
  };
  const steerTool = <Tool extends { readonly type: string }>(tool: Tool): Tool => {
    if (!isFunctionTool(tool) || isAgentTool(tool)) return tool;
    const { name } = tool;
    const invoke = async (context: never, input: string, details?: never): Promise<unknown> => {
      const toolCall: unknown = (details as { readonly toolCall?: unknown } | undefined)?.toolCall;
      const call = callOfItem(toolCall) ?? { id: '', name, args: input, argsText: input };
      const caller = runs.callers.get(call.id);
      const { result, feedback } = await runTool(parts, {
        call,
        run: () => tool.invoke(context, input, details),
        carries: (output) => !mayEndWith(caller, name) && carriesFeedback(tool, output),
      });
      return feedback === undefined ? result : withFeedback(result, feedback);
    };
    wrapped.add(invoke);
    // All members are copied, including symbols. Only the function is replaced.
    return { ...tool, invoke };
  };
  reportUnseen(run, 'openai-agents', { message: UNSEEN, isSeen: () => runs.hasAsked || hinted.size > 0 });
  return {
    attach(runner) {
      const work = (): typeof runner => {
        const isWrapped = (tool: unknown): boolean => isOwn(tool, wrapped);
        const removeListeners = addRunnerListeners(runner, { runs, guard, isWrapped, onAgent });
        const attached = attachTo(runner, { runs, models });
        isAttached = true;
        run.beforeEnd(() => {
          removeListeners();
          attached.detach();
          return undefined;
        });
        return attached.runner;
      };
      return guard('openai-agents attach', work, runner);
    },
    model: (model) => guard('openai-agents model', () => steeredModel(models, model), model),
    modelProvider: (provider) => guard('openai-agents model', () => steeredProvider(models, provider), provider),
    tool: (tool) => guard('openai-agents tool', () => steerTool(tool), tool),
    tools: (tools) => {
      const steered = guard('openai-agents tools', () => tools.map(steerTool), [...tools]);
      // The list has the same length and the same types in each position.
      return steered as never;
    },
    acknowledgeTool: () => steerTool(acknowledgeTool(() => runs.scope.calling)),
    follow: (work) => followed(run, work),
  };
}

function isFunctionTool(tool: object): tool is FunctionTool {
  return 'invoke' in tool && typeof tool.invoke === 'function';
}

/** The SDK identifies the tool's agent by this object, and needs the object to resume a saved state. */
function isAgentTool(tool: object): boolean {
  return 'on' in tool && typeof tool.on === 'function';
}

/** Returns true for a wrapped tool. The SDK copies tools, but the copy has the same function. */
function isOwn(tool: unknown, wrapped: WeakSet<object>): boolean {
  return typeof tool === 'object' && tool !== null && isFunctionTool(tool) && wrapped.has(tool.invoke);
}

/** The acknowledge tool in the format that the SDK's `tool()` returns. */
export interface AcknowledgeTool {
  type: 'function';
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  parameters: {
    type: 'object';
    properties: Record<string, object>;
    required: string[];
    additionalProperties: boolean;
  };
  strict: boolean;
  invoke: (context: unknown, input: string) => Promise<string>;
  needsApproval: () => Promise<boolean>;
  isEnabled: () => Promise<boolean>;
}

/** @param run returns the run that the answer belongs to */
function acknowledgeTool(run: () => Run): AcknowledgeTool {
  const { name, description, inputSchema } = acknowledgeToolDefinition;
  return {
    type: 'function',
    name,
    description,
    // The definition is an object schema. The SDK's type requires its fields by name.
    parameters: inputSchema as unknown as AcknowledgeTool['parameters'],
    // A strict schema requires every property, but only one property of this tool is required.
    strict: false,
    invoke: async (_context, input) => answerAcknowledgement(run(), decodedArgs(input)),
    needsApproval: async () => false,
    isEnabled: async () => true,
  };
}

/** Called during a tool call that the server reports as failed. */
type OnFailure = () => void;

type Call = (...args: readonly unknown[]) => Promise<unknown>;

/** Listeners by server. A server is wrapped once, and all runs share the wrapper. */
const WATCHED = new WeakMap<object, Set<OnFailure>>();

/** The SDK passes `isError` neither to its listeners nor to the model. Returns a function that removes the listener. */
function watchMcpServer(server: object, onFailure: OnFailure): () => void {
  const listeners = WATCHED.get(server) ?? new Set();
  if (!WATCHED.has(server)) {
    WATCHED.set(server, listeners);
    for (const name of ['callTool', 'callToolResult']) wrapMethod(server, name, listeners);
  }
  listeners.add(onFailure);
  return () => listeners.delete(onFailure);
}

function wrapMethod(server: object, name: string, listeners: ReadonlySet<OnFailure>): void {
  const ownMethod: unknown = Reflect.get(server, name);
  if (typeof ownMethod !== 'function') return;
  const call: Call = async (...args) => {
    // Call the method with the SDK's arguments.
    const result: unknown = await Reflect.apply(ownMethod, server, args);
    // The SDK sets the flag as a property of the content list.
    const { isError } = Object(result) as { readonly isError?: unknown };
    if (isError === true) for (const listener of listeners) listener();
    return result;
  };
  Object.defineProperty(server, name, { value: call, configurable: true, writable: true });
}

interface ListenerParts {
  readonly runs: AgentRuns;
  readonly guard: Guard;
  readonly isWrapped: (tool: unknown) => boolean;
  readonly onAgent: (agent: AgentShape) => void;
}

type Listener = (...args: readonly unknown[]) => void;

/** Guarded, because an exception would end the agent's run. Arguments as in @openai/agents 0.20. */
function addRunnerListeners(runner: RunnerShape, { runs, guard, isWrapped, onAgent }: ListenerParts): () => void {
  // The SDK types its events individually. These names and arguments are among them.
  const open = runner as unknown as Record<'on' | 'off', (event: string, listener: Listener) => unknown>;
  const offs: (() => void)[] = [];
  const addListener = (event: string, listener: Listener): void => {
    const guardedListener: Listener = (...args) => {
      if (runs.isOwner) guard(`openai-agents ${event}`, () => listener(...args));
    };
    open.on(event, guardedListener);
    offs.push(() => open.off(event, guardedListener));
  };
  addListener('agent_start', (_context, agent) => {
    if (!isAgent(agent)) return;
    runs.begins(agent.name);
    onAgent(agent);
    for (const server of objectsIn(agent.mcpServers)) offs.push(watchMcpServer(server, () => runs.scope.failed()));
  });
  addListener('agent_handoff', (_context, _from, target) => {
    if (isAgent(target)) runs.handsOver(target.name);
  });
  addListener('agent_tool_start', (_context, agent, tool, details) => {
    const call = callIn(details);
    if (call === undefined) return;
    if (isAgent(agent)) runs.callers.set(call.id, agent);
    if (isWrapped(tool)) return;
    const { conversation } = runs.calling();
    conversation.started(conversation.callOf(call));
    runs.toolBegins(call.id, call.name);
  });
  addListener('agent_tool_end', (...args) => {
    const [, , tool, result, details] = args;
    const call = callIn(details);
    if (call === undefined || isWrapped(tool)) return;
    const isMcpError = runs.toolDone(call.id);
    const { conversation } = runs.calling();
    const openCall = conversation.callOf(call);
    const isOfFunction =
      !isJsonObject(details) || !isJsonObject(details['toolCall']) || details['toolCall']['type'] === 'function_call';
    // The SDK reports a rejected action of a computer as its end. A function returns only its own text.
    const refusal = isOfFunction ? undefined : refusedBySdk(result);
    const outcome = { result, isError: isMcpError || saysThatItFailed(result), outcome: refusal };
    if (isOfFunction) conversation.later(conversation.ended(openCall, outcome));
    // Only the next request contains the exit code and status of a shell, patch or computer call.
    else conversation.returned(openCall, shellOutcome(details, result) ?? outcome);
  });
  return () => {
    for (const removeListener of offs) removeListener();
  };
}

/** Reads the output of a shell, which the SDK passes as JSON. */
function shellOutcome(details: unknown, result: unknown): CallResult | undefined {
  const call = isJsonObject(details) ? details['toolCall'] : undefined;
  if (!isJsonObject(call) || call['type'] !== 'shell_call' || typeof result !== 'string') return undefined;
  return itemOutcome({ type: 'shell_call_output', output: decodedArgs(result) });
}

function callIn(details: unknown): ReturnType<typeof callOfItem> {
  return isJsonObject(details) ? callOfItem(details['toolCall']) : undefined;
}

function isAgent(value: unknown): value is AgentShape {
  return isJsonObject(value) && typeof value['name'] === 'string';
}
