import { isJsonObject } from '../../core/base/json.ts';
import type { Guard } from '../host/guarded.ts';
import type { AgentRuns } from './agent-runs.ts';
import type { AgentShape, RunnerShape } from './sdk-shapes.ts';
import { decodedArgs } from '../host/content-blocks.ts';
import type { CallResult } from '../host/issued-call.ts';
import { callOfItem, itemOutcome } from '../host/response-items.ts';
import { refusedBySdk, saysThatItFailed } from './to-events.ts';

/** Called during a tool call that the server reports as failed. */
type OnFailure = () => void;

type Call = (...args: readonly unknown[]) => Promise<unknown>;

/** Listeners by server. A server is wrapped once, and all runs share the wrapper. */
const WATCHED = new WeakMap<object, Set<OnFailure>>();

function mcpServersOf({ mcpServers }: AgentShape): readonly object[] {
  return Array.isArray(mcpServers) ? mcpServers.filter(isJsonObject) : [];
}

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

export interface ListenerParts {
  readonly runs: AgentRuns;
  readonly guard: Guard;
  readonly isWrapped: (tool: unknown) => boolean;
  readonly onAgent: (agent: AgentShape) => void;
  /** Called with the agent of a call before the call runs. */
  readonly onCall: (callId: string, agent: AgentShape) => void;
}

type Listener = (...args: readonly unknown[]) => void;

/**
 * An exception in a listener would end the agent's run, so each is guarded. Arguments as in @openai/agents 0.20:
 * context, agent, then tool, result, details.
 */
export function addRunnerListeners(
  runner: RunnerShape,
  { runs, guard, isWrapped, onAgent, onCall }: ListenerParts,
): () => void {
  // The SDK types its events individually. These names and arguments are among them.
  const open = runner as unknown as Record<'on' | 'off', (event: string, listener: Listener) => unknown>;
  const offs: (() => void)[] = [];
  const addListener = (event: string, listener: Listener): void => {
    const guardedListener: Listener = (...args) => guard(`openai-agents ${event}`, () => listener(...args));
    open.on(event, guardedListener);
    offs.push(() => open.off(event, guardedListener));
  };
  addListener('agent_start', (_context, agent) => {
    if (!isAgent(agent)) return;
    runs.begins(agent.name);
    onAgent(agent);
    for (const server of mcpServersOf(agent)) offs.push(watchMcpServer(server, () => runs.scope.failed()));
  });
  addListener('agent_handoff', (_context, _from, target) => {
    if (isAgent(target)) runs.handsOver(target.name);
  });
  addListener('agent_tool_start', (_context, agent, tool, details) => {
    const call = callIn(details);
    if (call === undefined) return;
    if (isAgent(agent)) onCall(call.id, agent);
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
    const isOfFunction = isFunction(details);
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

function isFunction(details: unknown): boolean {
  return (
    !isJsonObject(details) || !isJsonObject(details['toolCall']) || details['toolCall']['type'] === 'function_call'
  );
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
