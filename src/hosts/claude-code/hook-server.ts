import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import { boundConnections, UNPROVEN_LIMITS } from '../../base/bound-connections.ts';
import { CoxswainError, messageOf } from '../../base/error.ts';
import type { Json } from '../../base/json.ts';
import { hasCode } from '../../store/file-system.ts';
import type { HookFault } from './fault-log.ts';
import { readHookEvent, type HookEvent } from './hook-event.ts';
import { DISABLE_HEADER, HOOK_MARK } from './init-hooks.ts';

/** What a server of http hooks is made from. */
export interface HookServerOptions {
  /** 0: any that is free. */
  readonly port: number;
  readonly token: string;
  /** Takes an event in and answers it; what it rejects with is a fault, and the agent is answered nothing. */
  readonly answer: (event: HookEvent) => Promise<object>;
  /** What `GET /health` tells whoever has the token. */
  readonly health: () => Json;
  /** @param unlessKnown  leaves out what was said just before */
  readonly onFault: (fault: HookFault, unlessKnown?: boolean) => void;
}

/** A server that listens. */
export interface HookServer {
  readonly port: number;
  /** Takes no more requests, and resolves when those it has are answered. */
  close(): Promise<void>;
}

/** Most bytes of an event: 8 MB, twenty times what the longest results of Claude Code's own tools come to. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** Of all events that are coming in together; one that comes when there is no room is passed over. */
const MAX_BUFFERED_BYTES = 8 * MAX_BODY_BYTES;
/** How long a request may take to arrive. */
const REQUEST_LIMIT_MS = 10_000;
/** How long `close` waits for requests that it has. */
const CLOSE_LIMIT_MS = 5_000;

/**
 * Answers Claude Code's `http` hooks: `POST /coxswain-hook` with an event is answered as the command hook answers it, with
 * status 200 and, where there is nothing to say or something went wrong, an empty body: the agent goes on. `GET /health`
 * says that the server is there, and to whoever has the token how it is.
 *
 * Listens on the loopback interface only. A request without the token, or for another host than this one (as a page in a
 * browser would send it), is refused and never read. Connections that have not shown the token are bounded: the oldest ends.
 *
 * @throws CoxswainError `input-io` when the port is taken or may not be used; `details.code` is the system's
 */
export async function startHookServer(options: HookServerOptions): Promise<HookServer> {
  const server = createServer({
    requestTimeout: REQUEST_LIMIT_MS,
    headersTimeout: UNPROVEN_LIMITS.headersMs,
    connectionsCheckingInterval: UNPROVEN_LIMITS.checkMs,
  });
  const { prove } = boundConnections(server);
  const port = await listen(server, options.port);
  const isToken = tokenCheck(options.token);
  const buffered = { bytes: 0 };
  server.on('request', (request, response) => {
    void respond(request, response, { options, port, isToken, buffered, prove }).catch((error: unknown) => {
      options.onFault({ where: 'server', message: messageOf(error) });
      end(response, 200);
    });
  });
  return { port, close: () => close(server) };
}

interface RequestContext {
  readonly options: HookServerOptions;
  readonly port: number;
  readonly isToken: (given: string) => boolean;
  readonly prove: (socket: Socket) => void;
  /** What the bodies that are coming in take. */
  readonly buffered: { bytes: number };
}

async function respond(request: IncomingMessage, response: ServerResponse, context: RequestContext): Promise<void> {
  const { options, port, isToken, buffered } = context;
  const { method, url, headers } = request;
  // A connection that is kept may be closed just when the next event is sent on it, which would be lost.
  response.shouldKeepAlive = false;
  const refuse = (status: number): void => end(response, status);
  // A name that leads here from elsewhere, as in a page that a browser shows.
  if (headers.host !== `127.0.0.1:${port}` && headers.host !== `localhost:${port}`) return refuse(403);
  const { authorization } = headers;
  if (method === 'GET' && url === '/health' && authorization === undefined) return end(response, 200, '{"ok":true}');
  if (!isToken(authorization ?? '')) {
    options.onFault({ where: 'server', message: 'a request without the right token was refused' }, true);
    return refuse(401);
  }
  context.prove(request.socket);
  if (method === 'GET' && url === '/health') return end(response, 200, JSON.stringify(options.health()));
  if (url !== `/${HOOK_MARK}`) return refuse(404);
  if (method !== 'POST') return refuse(405);
  if (headers[DISABLE_HEADER] === '1') return refuse(200);
  const answer = await takeEvent(request, options, buffered);
  end(response, 200, Object.keys(answer).length === 0 ? '' : JSON.stringify(answer));
}

async function takeEvent(
  request: IncomingMessage,
  { answer, onFault }: HookServerOptions,
  buffered: RequestContext['buffered'],
): Promise<object> {
  const body = await bodyOf(request, buffered);
  if (!Buffer.isBuffer(body)) {
    onFault({ where: 'input', message: `an event over http was passed over: ${body.tooMuch}` });
    return {};
  }
  const event = readHookEvent(body);
  if (event === undefined) {
    onFault({ where: 'input', message: `the body of an http hook is no JSON object (${body.length} bytes)` });
    return {};
  }
  try {
    return await answer(event);
  } catch (error) {
    onFault({ where: 'hook', message: messageOf(error), ...event.about });
    return {};
  }
}

/** Why for one that is too long; it is read to its end all the same, so that the other side hears the answer. */
async function bodyOf(
  request: IncomingMessage,
  buffered: RequestContext['buffered'],
): Promise<Buffer | { readonly tooMuch: string }> {
  const chunks: Buffer[] = [];
  let total = 0;
  let held = 0;
  let tooMuch: string | undefined;
  try {
    // Without an encoding set, a stream of a request gives buffers.
    for await (const chunk of request as AsyncIterable<Buffer>) {
      total += chunk.length;
      if (total > MAX_BODY_BYTES) tooMuch ??= `it is over ${MAX_BODY_BYTES} bytes`;
      else if (buffered.bytes + chunk.length > MAX_BUFFERED_BYTES)
        tooMuch ??= `${MAX_BUFFERED_BYTES} bytes came in together`;
      if (tooMuch === undefined) {
        chunks.push(chunk);
        held += chunk.length;
        buffered.bytes += chunk.length;
      } else {
        chunks.length = 0;
        buffered.bytes -= held;
        held = 0;
      }
    }
    return tooMuch === undefined ? Buffer.concat(chunks) : { tooMuch };
  } finally {
    buffered.bytes -= held;
  }
}

function end(response: ServerResponse, status: number, body = ''): void {
  if (response.headersSent) return;
  response.writeHead(status, {
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    ...(body === '' ? {} : { 'content-type': 'application/json' }),
  });
  response.end(body);
}

/** Compares in a time that does not tell how much was right. */
function tokenCheck(token: string): (given: string) => boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const wanted = digest(`Bearer ${token}`);
  return (given) => timingSafeEqual(digest(given), wanted);
}

async function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      const isTaken = hasCode(error, 'EADDRINUSE');
      const why = isTaken ? 'another program has it' : error.message;
      const message = `port ${port} cannot be listened on: ${why}; run coxswain init claude-code --http --port with another one`;
      const code = 'code' in error ? String(error.code) : '';
      reject(new CoxswainError('input-io', message, { cause: error, details: { port, code } }));
    });
    server.listen({ host: '127.0.0.1', port, backlog: UNPROVEN_LIMITS.backlog }, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

async function close(server: Server): Promise<void> {
  const timer = setTimeout(() => server.closeAllConnections(), CLOSE_LIMIT_MS);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
  clearTimeout(timer);
}
