import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Limits of a loopback server for connections that have not sent the secret yet. */
export const UNPROVEN_LIMITS = {
  /** Maximum number of concurrent connections. A further connection closes the oldest one. */
  connections: 256,
  /**
   * Length of the accept queue. It is lower than `connections`, so one turn of the event loop never closes a connection
   * that it accepted.
   */
  backlog: 128,
  /** Timeout for the headers of a request, in milliseconds. */
  headersMs: 5_000,
  /** Interval at which the server checks that timeout, in milliseconds. */
  checkMs: 1_000,
} as const;

/**
 * Limits the connections of a server that have not sent the secret. Any user of the machine can open connections and never
 * send a request. Beyond the limit, the server closes the oldest connection, so it can always serve a new one.
 *
 * @returns `prove`: call it with a connection whose request contained the secret
 */
export function boundConnections(server: Server): { readonly prove: (socket: Socket) => void } {
  const unprovenSockets = new Set<Socket>();
  server.on('connection', (socket) => {
    unprovenSockets.add(socket);
    socket.once('close', () => unprovenSockets.delete(socket));
    const [oldest] = unprovenSockets;
    if (unprovenSockets.size > UNPROVEN_LIMITS.connections) oldest?.destroy();
  });
  return { prove: (socket) => void unprovenSockets.delete(socket) };
}
