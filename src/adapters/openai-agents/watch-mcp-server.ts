import { isJsonObject } from '../../base/json.ts';
import type { AgentShape } from './sdk-shapes.ts';

/** Called within a tool call that the server reports as failed. */
type OnFailure = () => void;

type Call = (...args: readonly unknown[]) => Promise<unknown>;

/** Listeners by server. A server is wrapped once for all runs. */
const WATCHED = new WeakMap<object, Set<OnFailure>>();

/** The MCP servers of an agent. */
export function mcpServersOf({ mcpServers }: AgentShape): readonly object[] {
  return Array.isArray(mcpServers) ? mcpServers.filter(isJsonObject) : [];
}

/**
 * Watches the results of a server's tools for `isError`, which the SDK passes neither to its listeners nor to the model.
 *
 * @returns removes the listener
 */
export function watchMcpServer(server: object, onFailure: OnFailure): () => void {
  const listeners = WATCHED.get(server) ?? new Set();
  if (!WATCHED.has(server)) {
    WATCHED.set(server, listeners);
    for (const name of ['callTool', 'callToolResult']) wrap(server, name, listeners);
  }
  listeners.add(onFailure);
  return () => listeners.delete(onFailure);
}

function wrap(server: object, name: string, listeners: ReadonlySet<OnFailure>): void {
  const own: unknown = Reflect.get(server, name);
  if (typeof own !== 'function') return;
  const call: Call = async (...args) => {
    // Calls a method of the server with the SDK's arguments.
    const result: unknown = await Reflect.apply(own, server, args);
    // The SDK sets the flag on the content, which is a list.
    const { isError } = Object(result) as { readonly isError?: unknown };
    if (isError === true) for (const listener of listeners) listener();
    return result;
  };
  Object.defineProperty(server, name, { value: call, configurable: true, writable: true });
}
