import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

import { isJsonObject, type JsonObject } from '../core/base/json.ts';
import {
  scriptedAnswer,
  completeTurn,
  isFault,
  type CompleteTurn,
  type ModelFault,
  type ModelFunction,
  type ModelScript,
} from './model-script.ts';

export interface FakeModelServerOptions {
  readonly script: ModelScript | ModelFunction;
  /** Delay in milliseconds of responses without `answerAfterMs` in the script; default: 0. */
  readonly answerAfterMs?: number;
  /** Returns true for a main request of the agent. Other requests of the SDK, such as for a title, receive a fixed response. */
  readonly isMain?: (body: JsonObject) => boolean;
  /** Called for each request before the response is sent. */
  readonly onRequest?: (request: CapturedRequest) => void;
}

export interface CapturedRequest {
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The request body as sent. */
  readonly raw: string;
  /** The decoded body; an empty object if the body is not a JSON object. */
  readonly body: JsonObject;
  /** Index among the main requests, from 0. Absent for other requests. */
  readonly mainIndex?: number;
}

/** A model server on the loopback interface. */
export interface FakeModelServer {
  /** The base URL, such as `http://127.0.0.1:49152`. */
  readonly url: string;
  /** All requests, in order. */
  readonly requests: readonly CapturedRequest[];
  /** The requests answered by the script, in order. */
  mainRequests(): readonly CapturedRequest[];
  /** Closes all connections, cancels delayed responses and frees the port. */
  close(): Promise<void>;
}

/** The API of a model provider. @internal */
export interface ModelProtocol {
  /** Returns the response to a request that does not call the model, such as a list of models; undefined for other requests. */
  readonly fixed: (request: CapturedRequest) => { readonly status: number; readonly body: JsonObject } | undefined;
  readonly isMain: (body: JsonObject) => boolean;
  /** The text of the response to a request that is not a main request. */
  readonly sideText: string;
  /** @param id  unique on this server */
  readonly answer: (request: CapturedRequest, turn: CompleteTurn, id: number) => FakeModelAnswer;
  readonly fault: (status: number, message: string) => JsonObject;
}

/** A complete response body, or the serialised events of a stream. */
export type FakeModelAnswer =
  | { readonly kind: 'json'; readonly body: JsonObject }
  | { readonly kind: 'stream'; readonly events: readonly string[] };

/** Starts a server on a free port of 127.0.0.1. */
export async function startFakeModelServer(
  protocol: ModelProtocol,
  options: FakeModelServerOptions,
): Promise<FakeModelServer> {
  const requests: CapturedRequest[] = [];
  const closing = new AbortController();
  let mainRequests = 0;
  const capture = async (incoming: IncomingMessage): Promise<CapturedRequest> => {
    const raw = await bodyOf(incoming);
    const body = parseBody(raw);
    const request: CapturedRequest = {
      method: incoming.method ?? '',
      path: (incoming.url ?? '').replace(/\?.*$/, ''),
      headers: headersOf(incoming),
      raw,
      body,
    };
    if (protocol.fixed(request) !== undefined || !(options.isMain ?? protocol.isMain)(body)) return request;
    mainRequests += 1;
    return { ...request, mainIndex: mainRequests - 1 };
  };
  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = await capture(incoming);
    const id = requests.push(request);
    options.onRequest?.(request);
    const fixedReply = protocol.fixed(request);
    if (fixedReply !== undefined) return sendJson(response, fixedReply.status, fixedReply.body);
    const { mainIndex } = request;
    const answer =
      mainIndex === undefined ? { text: protocol.sideText } : scriptedAnswer(options.script, request.body, mainIndex);
    const waitMs = answer.answerAfterMs ?? (mainIndex === undefined ? 0 : (options.answerAfterMs ?? 0));
    if (waitMs > 0) await delay(waitMs, undefined, { signal: closing.signal });
    // The client has disconnected.
    if (response.destroyed) return;
    if (isFault(answer) && answer.error.isTruncated !== true) return sendFault(response, protocol, answer);
    const turn = completeTurn(isFault(answer) ? { text: 'This answer breaks off.' } : answer, mainIndex ?? 0);
    sendAnswer(response, protocol.answer(request, turn, id), isFault(answer));
  };
  // An import of `node:http` also loads its clients: more than the rest of this package.
  const server = process.getBuiltinModule('node:http').createServer((incoming, response) => {
    serve(incoming, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    requests,
    mainRequests: () => requests.filter((request) => request.mainIndex !== undefined),
    async close() {
      closing.abort();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function sendJson(response: ServerResponse, status: number, body: JsonObject, headers = {}): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length, ...headers });
  response.end(bytes);
}

function sendFault(response: ServerResponse, protocol: ModelProtocol, { error }: ModelFault): void {
  const { status = 500, message = 'the fake model was told to fail', mayRetry = false } = error;
  sendJson(response, status, protocol.fault(status, message), { 'x-should-retry': String(mayRetry) });
}

function sendAnswer(response: ServerResponse, answer: FakeModelAnswer, isTruncated: boolean): void {
  if (answer.kind === 'json' && !isTruncated) return sendJson(response, 200, answer.body);
  const text = answer.kind === 'json' ? JSON.stringify(answer.body) : answer.events.join('');
  const type = answer.kind === 'json' ? 'application/json' : 'text/event-stream';
  const length = answer.kind === 'json' ? { 'content-length': Buffer.byteLength(text) } : {};
  response.writeHead(200, { 'content-type': type, 'x-request-id': 'req_fake', 'request-id': 'req_fake', ...length });
  if (!isTruncated) {
    response.end(text);
    return;
  }
  response.write(text.slice(0, Math.floor(text.length / 2)), () => response.destroy());
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  // Without an encoding, a request yields buffers.
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function parseBody(raw: string): JsonObject {
  try {
    const value: unknown = JSON.parse(raw);
    // JSON.parse returns JSON.
    return isJsonObject(value) ? (value as JsonObject) : {};
  } catch {
    return {};
  }
}

function headersOf(incoming: IncomingMessage): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(incoming.headers)) headers[name] = String(value);
  return headers;
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the fake model server has no port');
  return address.port;
}
