import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import {
  boundConnections,
  closeServer,
  UNPROVEN_LIMITS,
  allowedHosts,
  guardRequest,
  tokenCheck,
} from '../../core/node/guard-request.ts';
import { CoxswainError, hasCode, messageOf } from '../../core/base/error.ts';
import { isOtlp, type OtlpEndpoint } from './otlp-endpoint.ts';
import { randomBytes } from 'node:crypto';
import { readGuarded, replaceGuarded } from '../../core/node/guarded-file.ts';
import { makeStateFolder, stateFile, type StateOwner } from '../../core/node/state-places.ts';

export interface OtlpServerOptions {
  readonly host: string;
  readonly port: number;
  /** Sent as `authorization: Bearer …`. Undefined lets every local program send, also of other users; only on loopback. */
  readonly token: string | undefined;
  /** Certificate and key in PEM format. Required unless the address is loopback. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  readonly endpoint: Pick<OtlpEndpoint, 'answer'>;
}

/** The body of a response to a request that is not read. Exporters show it to their user. */
const REFUSALS = {
  401: 'the token is missing or wrong: coxswain serve otlp prints the setting of the exporter that sends it',
  403: 'requests from web pages, or to another host name, are refused',
  404: 'the path is not supported: send traces to /v1/traces and logs to /v1/logs; metrics are not stored',
} as const;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/;
const MIN_TOKEN_CHARS = 16;
const REQUEST_LIMIT_MS = 30_000;
const CLOSE_LIMIT_MS = 5_000;

/** Returns true if only programs of this machine can reach the host. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}

/**
 * Requests from browser pages are refused. An address that other machines can reach requires TLS as well.
 *
 * @throws CoxswainError `invalid-argument` without TLS and a token for such an address, `input-io` if it cannot be
 * bound
 */
export async function startOtlpServer(
  options: OtlpServerOptions,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const { host, token, tls, endpoint } = options;
  const isLocal = isLoopback(host);
  if (!isLocal && (token === undefined || tls === undefined)) {
    const message = `${host} can be reached from other machines: give --token-file, --tls-cert and --tls-key, or listen on 127.0.0.1`;
    throw new CoxswainError('invalid-argument', message);
  }
  if (token !== undefined && token.length < MIN_TOKEN_CHARS) {
    throw new CoxswainError(
      'invalid-argument',
      `the token has ${token.length} characters; give at least ${MIN_TOKEN_CHARS}`,
    );
  }
  const isToken = token === undefined ? undefined : tokenCheck(token);
  let port = options.port;
  const answer: RequestListener = (request, response) => {
    const refuse = (status: keyof typeof REFUSALS): void =>
      void response.writeHead(status, { 'content-type': 'text/plain' }).end(`${REFUSALS[status]}\n`);
    if (isToken !== undefined && !isToken(request.headers.authorization ?? '')) return refuse(401);
    if (isToken !== undefined) prove(request.socket);
    if (!comesFromProgram(request, isLocal ? port : undefined)) return refuse(403);
    if (!isOtlp(request)) return refuse(404);
    void endpoint.answer(request, response);
  };
  const limits = {
    requestTimeout: REQUEST_LIMIT_MS,
    headersTimeout: UNPROVEN_LIMITS.headersMs,
    connectionsCheckingInterval: UNPROVEN_LIMITS.checkMs,
  };
  const server = tls === undefined ? createServer(limits, answer) : createTlsServer({ ...limits, ...tls }, answer);
  const { prove } = boundConnections(server);
  port = await listenOn(server, options, '--listen');
  return { port, close: () => closeServer(server, CLOSE_LIMIT_MS) };
}

/** @param port  set for a loopback address */
function comesFromProgram(request: IncomingMessage, port: number | undefined): boolean {
  if (port === undefined)
    return request.headers.origin === undefined && request.headers['sec-fetch-site'] === undefined;
  try {
    guardRequest(request, allowedHosts(port));
    return true;
  } catch {
    return false;
  }
}

/**
 * @param option  the command-line option that selects another address, for the error
 * @throws CoxswainError `input-io` if the address is not available; `details.code` is the system's error code
 */
async function listenOn(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
  option: string,
): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      const why = hasCode(error, 'EADDRINUSE') ? 'another program uses it' : error.message;
      const message = `cannot listen on ${host}:${port}: ${why}; choose another with ${option}`;
      const code = 'code' in error ? String(error.code) : '';
      reject(new CoxswainError('input-io', message, { cause: error, details: { port, code } }));
    });
    server.listen({ host, port, backlog: UNPROVEN_LIMITS.backlog }, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

const TOKEN_BYTES = 32;

/**
 * Created at the first call; only its owner can read it. Not the token of the hooks: every command of an agent inherits
 * the environment that names it.
 *
 * @throws CoxswainError `input-io` if it cannot be used, or if another user could have read it
 */
export function otlpToken(owner: StateOwner): { readonly token: string; readonly file: string } {
  const file = stateFile('otlpToken', owner);
  try {
    const stored = readToken(file);
    if (stored !== undefined) return { token: stored, file };
    makeStateFolder(owner);
    replaceGuarded(file, `${randomBytes(TOKEN_BYTES).toString('base64url')}\n`);
    // Another process may have written another token.
    const token = readToken(file);
    if (token === undefined) throw new Error('it was deleted');
    return { token, file };
  } catch (error) {
    throw new CoxswainError('input-io', `${file} cannot be used as the token of exporters: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

function readToken(file: string): string | undefined {
  const token = readGuarded(file)?.toString('utf8').trim();
  if (token === undefined) return undefined;
  if (token.length < TOKEN_BYTES) throw new Error('it is damaged; remove it, and the next start writes another');
  return token;
}
