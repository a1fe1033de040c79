import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Limits of a loopback server for connections that have not shown a secret yet. */
export const UNPROVEN_LIMITS = {
  /** Concurrent connections; one more closes the oldest. */
  connections: 256,
  /** Below `connections`, so that one turn of the event loop never closes a connection that it accepted. */
  backlog: 128,
  /** Milliseconds for the headers of a request. */
  headersMs: 5_000,
  /** Interval of that check in milliseconds. */
  checkMs: 1_000,
} as const;

/**
 * Limits the connections of a server that have not shown a secret: any user of the machine can open some and leave them
 * half open. Beyond the limit the oldest is closed, so a new one is always served.
 *
 * @returns `prove`, to be called with a connection whose request showed the secret
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
