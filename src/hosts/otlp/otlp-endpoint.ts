import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

import { type Clock, systemClock } from '../../core/base/clock.ts';
import { CoxswainError, messageOf } from '../../core/base/error.ts';
import { isJsonObject } from '../../core/base/json.ts';
import { bodyOf, type BufferedBodies } from '../../core/node/guard-request.ts';
import { decodeProtobuf, encodeStatus, encodeSuccess } from '../../formats/otlp/otlp-protobuf.ts';
import { readSpans, type FoundSpans } from '../../formats/otlp/read-spans.ts';
import { decodeJson } from '../../formats/reading/json-text.ts';

/** Stores the spans of a request; see `OtlpIntake.take`. */
export type TakeSpans = (found: FoundSpans) => { readonly refused: number };

const SIGNALS: ReadonlyMap<string | undefined, 'traces' | 'logs'> = new Map([
  ['/v1/traces', 'traces'],
  ['/v1/logs', 'logs'],
]);
/** Maximum size of a request body as sent: 8 MB. The body may be compressed. The SDKs send 512 spans at a time. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;
const MAX_UNPACKED_BYTES = 32 * 1024 * 1024;
/** Maximum total size of all concurrent requests. */
const MAX_BUFFERED_BYTES = 8 * MAX_BODY_BYTES;
/** Maximum number of requests accepted per second. */
const MAX_REQUESTS = 200;
const RETRY_SECONDS = '1';

export function isOtlp(request: Pick<IncomingMessage, 'url'>): boolean {
  return SIGNALS.has(request.url);
}

/** `POST /v1/traces` and `/v1/logs`, protobuf or JSON, perhaps gzip: spans are on disk, or 429, 503. The caller checks the origin. */
export class OtlpEndpoint {
  readonly #take: TakeSpans;
  readonly #clock: Clock;
  readonly #buffered: BufferedBodies = { bytes: 0, maxBytes: MAX_BUFFERED_BYTES };
  #second = 0;
  #requests = 0;

  constructor(take: TakeSpans, clock: Clock = systemClock) {
    this.#take = take;
    this.#clock = clock;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
    const isJson = type === 'application/json';
    try {
      if (request.method !== 'POST') throw refusal(405, 'send spans with POST');
      if (!isJson && type !== 'application/x-protobuf') {
        throw refusal(415, 'the content type is neither application/json nor application/x-protobuf');
      }
      this.#countRequest();
      const signal = SIGNALS.get(request.url) ?? 'traces';
      const body = await this.#bodyOf(request);
      const message = isJson ? jsonIn(body) : decodeProtobuf(body, signal);
      const foundSpans = readSpans(message);
      // A protobuf body that contains only unknown fields also has no members, but is no empty request.
      const isEmpty = isJson ? isJsonObject(message) && Object.keys(message).length === 0 : body.length === 0;
      if (foundSpans === undefined && !isEmpty) throw refusal(400, 'the body is not an OTLP request');
      const { refused } = foundSpans === undefined ? { refused: 0 } : this.#take(foundSpans);
      respond(response, 200, { isJson, body: isJson ? jsonSuccess(refused, signal) : encodeSuccess(refused, REFUSED) });
    } catch (error) {
      const status = statusOf(error);
      const message = messageOf(error);
      // The error body is a `google.rpc.Status` message.
      const body = isJson ? JSON.stringify({ message }) : encodeStatus(message);
      respond(response, status, { isJson, body });
    }
  }

  async #bodyOf(request: IncomingMessage): Promise<Buffer> {
    const { 'content-encoding': encoding = 'identity' } = request.headers;
    if (encoding !== 'gzip' && encoding !== 'identity')
      throw refusal(415, `the encoding ${encoding.slice(0, 40)} is not supported`);
    const body = await bodyOf(request, MAX_BODY_BYTES, this.#buffered);
    if (!Buffer.isBuffer(body)) throw refusal(body.tooMuch.endsWith('together') ? 429 : 413, body.tooMuch);
    if (encoding === 'identity') return body;
    try {
      return await promisify(gunzip)(body, { maxOutputLength: MAX_UNPACKED_BYTES });
    } catch (error) {
      const isTooLarge = error instanceof RangeError;
      throw isTooLarge
        ? refusal(413, `it decompresses to more than ${MAX_UNPACKED_BYTES} bytes`)
        : refusal(400, 'the body is not gzip');
    }
  }

  #countRequest(): void {
    const second = Math.floor(this.#clock.nowMs() / 1_000);
    if (second !== this.#second) this.#requests = 0;
    this.#second = second;
    this.#requests += 1;
    if (this.#requests > MAX_REQUESTS) throw refusal(429, `more than ${MAX_REQUESTS} requests arrived within a second`);
  }
}

function jsonIn(body: Buffer): unknown {
  const decoded = decodeJson(body.toString('utf8'));
  if (decoded.ok) return decoded.value;
  throw refusal(400, `the body ${decoded.reason}`);
}

function refusal(status: number, message: string): CoxswainError {
  return new CoxswainError('invalid-argument', message, { details: { status } });
}

function statusOf(error: unknown): number {
  if (!(error instanceof CoxswainError)) return 400;
  const { status } = error.details;
  if (typeof status === 'number') return status;
  return error.code === 'input-too-large' ? 429 : error.code === 'format-invalid' ? 400 : 503;
}

/** Reason for rejected spans. The sender shows it to its user. */
const REFUSED = 'spans without ids or a time, or of a trace over the limit, were dropped';

function jsonSuccess(refused: number, signal: 'traces' | 'logs'): string {
  if (refused === 0) return '{}';
  const name = signal === 'traces' ? 'rejectedSpans' : 'rejectedLogRecords';
  return JSON.stringify({ partialSuccess: { [name]: String(refused), errorMessage: REFUSED } });
}

function respond(
  response: ServerResponse,
  status: number,
  { isJson, body }: { readonly isJson: boolean; readonly body: string | Uint8Array },
): void {
  if (response.headersSent) return;
  response.writeHead(status, {
    'content-type': isJson ? 'application/json' : 'application/x-protobuf',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    ...(status === 429 || status === 503 ? { 'retry-after': RETRY_SECONDS } : {}),
  });
  response.end(body);
}
