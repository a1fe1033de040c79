import { type Json, type JsonObject, isJsonObject } from '../core/base/json.ts';
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

export interface ModelCall {
  /** Default: `call_TURN_CALL` with both numbers from 1, so that a script always produces the same ids. */
  readonly id?: string;
  readonly name: string;
  readonly args: Json;
}

export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Default: 0. */
  readonly cacheReadTokens?: number;
}

export interface ModelTurn {
  readonly text?: string;
  /** Tool calls of the response, issued in parallel. */
  readonly calls?: readonly ModelCall[];
  /** Items of OpenAI's Responses API before text and calls, such as `web_search_call` or `shell_call`. Ignored by other APIs. */
  readonly items?: readonly JsonObject[];
  /** Default: `tool-calls` if there are calls, else `stop`. */
  readonly finish?: ModelFinish;
  /** Default: `DEFAULT_USAGE`. */
  readonly usage?: ModelUsage;
  /** Delay of the response in milliseconds. Default: `answerAfterMs` of the server. */
  readonly answerAfterMs?: number;
  /** Simulates a later version of the API: every object has an unknown field, and the first item has an unknown type. */
  readonly fromTheFuture?: boolean;
}

export type ModelFinish = 'stop' | 'tool-calls' | 'length';

export interface ModelFault {
  readonly error: {
    /** HTTP status; default: 500. */
    readonly status?: number;
    readonly message?: string;
    /** Closes the connection in the middle of the body instead of sending an error status. */
    readonly isTruncated?: boolean;
    /** Value of the header `x-should-retry`; default: false. */
    readonly mayRetry?: boolean;
  };
  readonly answerAfterMs?: number;
}

/** The responses of a scripted model, in the order of the requests. */
export interface ModelScript {
  readonly turns: readonly (ModelTurn | ModelFault)[];
}

/** @param index  index among the main requests, from 0 */
export type ModelFunction = (request: unknown, index: number) => ModelTurn | ModelFault;

const DEFAULT_USAGE: ModelUsage = { inputTokens: 100, outputTokens: 20 };

/** The response to requests beyond the end of a script. */
export const AFTER_SCRIPT: ModelTurn = { text: 'The script has ended.' };

export function scriptedAnswer(
  script: ModelScript | ModelFunction,
  request: unknown,
  index: number,
): ModelTurn | ModelFault {
  return typeof script === 'function' ? script(request, index) : (script.turns[index] ?? AFTER_SCRIPT);
}

function isFault(answer: ModelTurn | ModelFault): answer is ModelFault {
  return 'error' in answer;
}

/** Maps the calls of a script, for example to the tool names of an SDK. */
export function mapModelCalls(script: ModelScript | ModelFunction, map: (call: ModelCall) => ModelCall): ModelFunction {
  return (request, index) => {
    const answer = scriptedAnswer(script, request, index);
    if (isFault(answer) || answer.calls === undefined) return answer;
    return { ...answer, calls: answer.calls.map(map) };
  };
}

export function pieces(text: string): readonly string[] {
  const characters = Array.from(text);
  const size = Math.max(1, Math.ceil(characters.length / 3));
  const parts: string[] = [];
  for (let from = 0; from < characters.length; from += size) parts.push(characters.slice(from, from + size).join(''));
  return parts;
}

export interface CompleteTurn {
  readonly text: string | undefined;
  readonly calls: readonly Required<ModelCall>[];
  readonly items: readonly JsonObject[];
  readonly finish: ModelFinish;
  readonly usage: Required<ModelUsage>;
  readonly fromTheFuture: boolean;
}

/** @param index  index among the main requests, from 0; used in call ids */
export function completeTurn(turn: ModelTurn, index: number): CompleteTurn {
  const calls = (turn.calls ?? []).map((call, at) => ({
    id: call.id ?? `call_${index + 1}_${at + 1}`,
    name: call.name,
    args: call.args,
  }));
  return {
    text: turn.text,
    calls,
    items: turn.items ?? [],
    finish: turn.finish ?? (calls.length > 0 ? 'tool-calls' : 'stop'),
    usage: { cacheReadTokens: 0, ...(turn.usage ?? DEFAULT_USAGE) },
    fromTheFuture: turn.fromTheFuture === true,
  };
}

export interface FakeModelServerOptions {
  readonly script: ModelScript | ModelFunction;
  /** Delay in milliseconds of responses without `answerAfterMs` in the script; default: 0. */
  readonly answerAfterMs?: number;
  /** Returns true for a main request of the agent. Other requests of the SDK, such as for a title, receive a fixed response. */
  readonly isMain?: (body: JsonObject) => boolean;
  readonly onRequest?: (request: CapturedRequest) => void;
}

export interface CapturedRequest {
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly raw: string;
  /** The decoded body; an empty object if the body is not a JSON object. */
  readonly body: JsonObject;
  /** Index among the main requests, from 0. Absent for other requests. */
  readonly mainIndex?: number;
}

export interface FakeModelServer {
  /** The base URL, such as `http://127.0.0.1:49152`. */
  readonly url: string;
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
  readonly sideText: string;
  /** @param id  unique on this server */
  readonly answer: (request: CapturedRequest, turn: CompleteTurn, id: number) => FakeModelAnswer;
  readonly fault: (status: number, message: string) => JsonObject;
}

export type FakeModelAnswer =
  | { readonly kind: 'json'; readonly body: JsonObject }
  | { readonly kind: 'stream'; readonly events: readonly string[] };

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
