import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** What a server on the loopback interface allows to connections that have not shown a secret yet. */
export const UNPROVEN_LIMITS = {
  /** Connections at once; one more ends the oldest. */
  connections: 256,
  /** Connections that wait to be accepted: fewer than are kept, so that one turn of the event loop never ends one that it accepted. */
  backlog: 128,
  /** Milliseconds for the headers of a request. */
  headersMs: 5_000,
  /** How often that is checked, in milliseconds. */
  checkMs: 1_000,
} as const;

/**
 * Bounds the connections of a server that have not shown a secret: any user of the machine can open some and leave them
 * half open. When there are too many, the oldest of them ends, so a new one is always answered.
 *
 * @returns `prove`, to be called with a connection whose request showed the secret: it no longer counts
 */
export function boundConnections(server: Server): { readonly prove: (socket: Socket) => void } {
  const unproven = new Set<Socket>();
  server.on('connection', (socket) => {
    unproven.add(socket);
    socket.once('close', () => unproven.delete(socket));
    const [oldest] = unproven;
    if (unproven.size > UNPROVEN_LIMITS.connections) oldest?.destroy();
  });
  return { prove: (socket) => void unproven.delete(socket) };
}
