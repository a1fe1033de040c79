import { isJsonObject } from '../../base/json.ts';
import type { AgentShape } from './sdk-shapes.ts';

/** Told of a call that the server says has failed, in the task of the call. */
type OnFailure = () => void;

type Call = (...args: readonly unknown[]) => Promise<unknown>;

/** Who is told, by server. A server is wrapped once, however many runs use it. */
const WATCHED = new WeakMap<object, Set<OnFailure>>();

/** The MCP servers of an agent. */
export function mcpServersOf({ mcpServers }: AgentShape): readonly object[] {
  return Array.isArray(mcpServers) ? mcpServers.filter(isJsonObject) : [];
}

/**
 * Watches the results of a server's tools for `isError`, which the SDK drops from what it tells its listeners and the model.
 *
 * @returns to be called when nothing is to be told any more
 */
export function watchMcpServer(server: object, onFailure: OnFailure): () => void {
  const told = WATCHED.get(server) ?? new Set();
  if (!WATCHED.has(server)) {
    WATCHED.set(server, told);
    for (const name of ['callTool', 'callToolResult']) wrap(server, name, told);
  }
  told.add(onFailure);
  return () => told.delete(onFailure);
}

function wrap(server: object, name: string, told: ReadonlySet<OnFailure>): void {
  const own: unknown = Reflect.get(server, name);
  if (typeof own !== 'function') return;
  const call: Call = async (...args) => {
    // A method of the server, called with what the SDK gives.
    const result: unknown = await Reflect.apply(own, server, args);
    // The SDK hangs the flag on the content, which is a list.
    const { isError } = Object(result) as { readonly isError?: unknown };
    if (isError === true) for (const tell of told) tell();
    return result;
  };
  Object.defineProperty(server, name, { value: call, configurable: true, writable: true });
}
