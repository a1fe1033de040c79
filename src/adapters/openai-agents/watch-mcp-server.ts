import { isJsonObject } from '../../core/base/json.ts';
import type { AgentShape } from './sdk-shapes.ts';

/** Called during a tool call that the server reports as failed. */
type OnFailure = () => void;

type Call = (...args: readonly unknown[]) => Promise<unknown>;

/** Listeners by server. A server is wrapped once, and all runs share the wrapper. */
const WATCHED = new WeakMap<object, Set<OnFailure>>();

export function mcpServersOf({ mcpServers }: AgentShape): readonly object[] {
  return Array.isArray(mcpServers) ? mcpServers.filter(isJsonObject) : [];
}

/**
 * Checks the results of a server's tools for `isError`. The SDK passes this flag neither to its listeners nor to the model.
 *
 * @returns a function that removes the listener
 */
export function watchMcpServer(server: object, onFailure: OnFailure): () => void {
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
