import type { IncomingMessage, Server } from 'node:http';
import { CoxswainError } from '../base/error.ts';
import { present } from '../base/json.ts';
import type { Socket } from 'node:net';
import { createHash, timingSafeEqual } from 'node:crypto';

/** The values of the `Host` header that a loopback server accepts. */
export function allowedHosts(port: number): readonly string[] {
  return [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`];
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'POST']);
/** A request path in ASCII, without control characters, backslashes and invalid escapes. */
const TARGET = /^\/(?!\/)(?:[!"$&-;=?-[\]^-~]|%[0-9A-Fa-f]{2})*$/;
const MAX_TARGET_CHARS = 16_384;
/** Accepted values of `Sec-Fetch-Site`. Browsers send `none` for an address typed by the user. */
const ALLOWED_SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);

/**
 * Refuses another host name (DNS rebinding), another origin or site (except for the bare page), and unusual addresses,
 * in the raw request before any normalisation.
 *
 * @throws CoxswainError with the reason `forbidden`
 */
export function guardRequest(request: IncomingMessage, hosts: readonly string[]): void {
  const { method = '', url = '' } = request;
  if (!METHODS.has(method)) throw forbiddenReply(`the method ${method} is not supported`);
  if (url.length > MAX_TARGET_CHARS || !TARGET.test(url) || /%00/.test(url)) {
    throw forbiddenReply('the address has unusual characters');
  }
  const host = singleHeader(request, 'host');
  if (host === undefined || !hosts.includes(host)) {
    throw forbiddenReply('the Host header names another server', `Open the address that coxswain view printed.`);
  }
  const origin = singleHeader(request, 'origin');
  if (origin === undefined || (origin !== '' && origin !== `http://${host}`)) {
    throw forbiddenReply('the Origin header names another server');
  }
  const site = singleHeader(request, 'sec-fetch-site');
  if (site === undefined || (site !== '' && !ALLOWED_SITES.has(site) && !opensPage(request))) {
    throw forbiddenReply('requests from other sites are refused');
  }
  // A page of this server always sends its origin with a POST request.
  if (method === 'POST' && site === 'none') throw forbiddenReply('only a page of this server may write');
}

/** A local file that opens the page has another origin; the page has no data of a run, and its later requests the viewer's origin. */
function opensPage(request: IncomingMessage): boolean {
  const { method, url } = request;
  const isNavigation =
    singleHeader(request, 'sec-fetch-mode') === 'navigate' && singleHeader(request, 'sec-fetch-dest') === 'document';
  return isNavigation && method === 'GET' && url === '/';
}

function singleHeader(request: IncomingMessage, name: string): string | undefined {
  const { rawHeaders } = request;
  const values = rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name);
  return values.length > 1 ? undefined : (values[0] ?? '');
}

function forbiddenReply(message: string, fix?: string): CoxswainError {
  return new CoxswainError('invalid-argument', message, { details: { reason: 'forbidden', ...present({ fix }) } });
}

/** Limits of a loopback server for connections that have not sent the secret yet. */
export const UNPROVEN_LIMITS = {
  /** Maximum number of concurrent connections. A further connection closes the oldest one. */
  connections: 256,
  /** Lower than `connections`, so one turn of the event loop never closes a connection that it accepted. */
  backlog: 128,
  /** Timeout for the headers of a request, in milliseconds. */
  headersMs: 5_000,
  /** Interval at which the server checks that timeout, in milliseconds. */
  checkMs: 1_000,
} as const;

/**
 * Any user of the machine can open connections and never send a request: beyond the limit, the oldest one is closed.
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

/** @param limitMs  how long requests may take to end. Default: they are cut off */
export async function closeServer(server: Server, limitMs = 0): Promise<void> {
  const timer = setTimeout(() => server.closeAllConnections(), limitMs);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
  clearTimeout(timer);
}

export interface BufferedBodies {
  bytes: number;
  readonly maxBytes: number;
}

/** Always read to its end, because otherwise the client would not receive the response. */
export async function bodyOf(
  request: IncomingMessage,
  maxBytes: number,
  buffered: BufferedBodies,
): Promise<Buffer | { readonly tooMuch: string }> {
  const chunks: Buffer[] = [];
  let total = 0;
  let bufferedBytes = 0;
  let tooMuch: string | undefined;
  try {
    // A request stream without an encoding yields buffers.
    for await (const chunk of request as AsyncIterable<Buffer>) {
      total += chunk.length;
      if (total > maxBytes) tooMuch ??= `it exceeds ${maxBytes} bytes`;
      else if (buffered.bytes + chunk.length > buffered.maxBytes)
        tooMuch ??= `${buffered.maxBytes} bytes arrived in concurrent requests`;
      if (tooMuch === undefined) {
        chunks.push(chunk);
        bufferedBytes += chunk.length;
        buffered.bytes += chunk.length;
      } else {
        chunks.length = 0;
        buffered.bytes -= bufferedBytes;
        bufferedBytes = 0;
      }
    }
    return tooMuch === undefined ? Buffer.concat(chunks) : { tooMuch };
  } finally {
    buffered.bytes -= bufferedBytes;
  }
}

/** The time of the comparison does not reveal how many characters were correct. */
export function tokenCheck(token: string): (given: string) => boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const expectedDigest = digest(`Bearer ${token}`);
  return (header) => timingSafeEqual(digest(header), expectedDigest);
}
