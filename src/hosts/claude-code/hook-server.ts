import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import { boundConnections, UNPROVEN_LIMITS } from '../../core/node/bound-connections.ts';
import { messageOf } from '../../core/base/error.ts';
import { allowedHosts, guardRequest } from '../../core/node/guard-request.ts';
import type { Json } from '../../core/base/json.ts';
import { bodyOf, type BufferedBodies } from '../../core/node/request-body.ts';
import { tokenCheck } from '../../core/node/token-check.ts';
import { isOtlp, type OtlpEndpoint } from '../otlp/otlp-endpoint.ts';
import { closeServer, listenOn, REFUSALS } from '../otlp/otlp-server.ts';
import type { HookFault } from '../../core/node/fault-log.ts';
import { readHookEvent, type HookEvent } from './hook-event.ts';
import { DISABLE_HEADER, HOOK_MARK } from './init-hooks.ts';

export interface HookServerOptions {
  /** Port to listen on. 0 selects any free port. */
  readonly port: number;
  readonly token: string;
  /** Records and answers an event. If it rejects, the server reports a fault and sends an empty answer. */
  readonly answer: (event: HookEvent) => Promise<object>;
  /** Answers OTLP requests that contain the token of the exporters, which is not `token`. */
  readonly otlp: Pick<OtlpEndpoint, 'answer'> & { readonly token: string };
  /** Returns the response body for `GET /health` with the token. */
  readonly health: () => Json;
  /**
   * Called for every fault.
   *
   * @param unlessKnown  skips a fault that was logged recently
   */
  readonly onFault: (fault: HookFault, unlessKnown?: boolean) => void;
}

export interface HookServer {
  readonly port: number;
  /** Stops accepting requests. Resolves when the requests in progress are answered. */
  close(): Promise<void>;
}

/** Maximum size of one event: 8 MB. This is twenty times the longest result of Claude Code's own tools. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** Maximum total size of all events in memory. An event that exceeds it is lost. */
const MAX_BUFFERED_BYTES = 8 * MAX_BODY_BYTES;
/** Time limit for receiving a request. */
const REQUEST_LIMIT_MS = 10_000;

/**
 * Answers Claude Code's `http` hooks. `POST /coxswain-hook` with an event returns status 200 and the same answer as the
 * command hook. The body is empty if there is no advice or after an internal error, so the agent continues. `GET /health`
 * shows that the server runs. With the token, it also returns the server's state. `OtlpEndpoint` answers `POST /v1/traces` and
 * `/v1/logs`.
 *
 * The server listens on the loopback interface only. Any other request is refused unread if it has no token, or if its host
 * name differs, as in requests from a browser page. The number of connections without a token is limited; above the limit the
 * oldest one is closed.
 *
 * @throws CoxswainError `input-io` if the port is taken or not allowed; `details.code` is the system's error code
 */
export async function startHookServer(options: HookServerOptions): Promise<HookServer> {
  const server = createServer({
    requestTimeout: REQUEST_LIMIT_MS,
    headersTimeout: UNPROVEN_LIMITS.headersMs,
    connectionsCheckingInterval: UNPROVEN_LIMITS.checkMs,
  });
  const { prove } = boundConnections(server);
  const address = { host: '127.0.0.1', port: options.port };
  const port = await listenOn(server, address, 'coxswain init claude-code --http --port');
  const isToken = tokenCheck(options.token);
  const isExporterToken = tokenCheck(options.otlp.token);
  const buffered: BufferedBodies = { bytes: 0, maxBytes: MAX_BUFFERED_BYTES };
  server.on('request', (request, response) => {
    void respond(request, response, { options, port, isToken, isExporterToken, buffered, prove }).catch(
      (error: unknown) => {
        options.onFault({ where: 'server', message: messageOf(error) });
        end(response, 200);
      },
    );
  });
  return { port, close: () => closeServer(server) };
}

interface RequestContext {
  readonly options: HookServerOptions;
  readonly port: number;
  readonly isToken: (text: string) => boolean;
  readonly isExporterToken: (text: string) => boolean;
  readonly prove: (socket: Socket) => void;
  readonly buffered: BufferedBodies;
}

async function respond(request: IncomingMessage, response: ServerResponse, context: RequestContext): Promise<void> {
  const { options, port, isToken, buffered } = context;
  const { method, url, headers } = request;
  // Disable keep-alive: the server might close an idle connection just as the next event is sent, and that event would be lost.
  response.shouldKeepAlive = false;
  const refuse = (status: number): void => end(response, status);
  // Refuse any other host name that resolves to this machine, as in a DNS rebinding attack.
  if (headers.host !== `127.0.0.1:${port}` && headers.host !== `localhost:${port}`) return refuse(403);
  const { authorization } = headers;
  if (isOtlp(request)) {
    try {
      guardRequest(request, allowedHosts(port));
    } catch {
      return refuse(403);
    }
    if (!context.isExporterToken(authorization ?? '')) {
      options.onFault({ where: 'otlp', message: 'spans without the token of the exporters were refused' }, true);
      return end(response, 401, JSON.stringify({ message: REFUSALS[401] }));
    }
    context.prove(request.socket);
    return options.otlp.answer(request, response);
  }
  if (method === 'GET' && url === '/health' && authorization === undefined) return end(response, 200, '{"ok":true}');
  if (!isToken(authorization ?? '')) {
    options.onFault({ where: 'server', message: 'a request without a valid token was refused' }, true);
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
  const body = await bodyOf(request, MAX_BODY_BYTES, buffered);
  if (!Buffer.isBuffer(body)) {
    onFault({ where: 'input', message: `an event over http was skipped: ${body.tooMuch}` });
    return {};
  }
  const event = readHookEvent(body);
  if (event === undefined) {
    onFault({ where: 'input', message: `the body of an http hook is not a JSON object (${body.length} bytes)` });
    return {};
  }
  try {
    return await answer(event);
  } catch (error) {
    onFault({ where: 'hook', message: messageOf(error), ...event.about });
    return {};
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
