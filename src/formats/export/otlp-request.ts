import { type Json, type JsonObject, isJsonObject, jsonOf } from '../../core/base/json.ts';
import type { RunSpan, SpanAttributes, SpanTime, SpanValue } from './run-span.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { CoxswainError, reasonOf } from '../../core/base/error.ts';

const SPAN_KINDS = { internal: 1, client: 3 } as const;
const STATUS_ERROR = 2;
/** Trace flags: sampled, and the parent is known to be local. */
const FLAGS = 0x101;

export const SPAN_SCOPE = { name: 'coxswain' } as const;

/** Converts spans to an `ExportTraceServiceRequest` of OTLP/HTTP in JSON. The same JSON is a line of an OTLP file. */
export function otlpRequest(spans: readonly RunSpan[], resource: SpanAttributes): JsonObject {
  const scopeSpans = [{ scope: SPAN_SCOPE, spans: spans.map(otlpSpan) }];
  return { resourceSpans: [{ resource: { attributes: attributesOf(resource) }, scopeSpans }] };
}

function otlpSpan(span: RunSpan): JsonObject {
  const { attributes, droppedEvents, end, error, events, kind, name, parentSpanId, spanId, start, traceId } = span;
  return {
    traceId,
    spanId,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    flags: FLAGS,
    name,
    kind: SPAN_KINDS[kind],
    startTimeUnixNano: nanoText(start),
    endTimeUnixNano: nanoText(end),
    attributes: attributesOf(attributes),
    events: events.map((event) => ({
      timeUnixNano: nanoText(event.time),
      name: event.name,
      attributes: attributesOf(event.attributes),
    })),
    ...(droppedEvents === 0 ? {} : { droppedEventsCount: droppedEvents }),
    status: error === undefined ? {} : { code: STATUS_ERROR, ...(error === '' ? {} : { message: error }) },
  };
}

/** Returns the time in nanoseconds as a string: OTLP's JSON encodes 64-bit numbers as strings. */
function nanoText([seconds, nanos]: SpanTime): string {
  return String(BigInt(seconds) * 1_000_000_000n + BigInt(nanos));
}

function attributesOf(attributes: SpanAttributes): Json {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }));
}

function anyValue(value: SpanValue): JsonObject {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  return { arrayValue: { values: value.map(anyValue) } };
}

const LIMIT_MS = 10_000;
const RETRIED: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const RETRY_WAITS_MS = [1_000, 5_000];
const MAX_WAIT_MS = 30_000;

interface OtlpCollector {
  readonly name: string;
  /** Sends one request. Returns a message if the collector rejected all or part of it, else undefined. */
  send(request: JsonObject): Promise<string | undefined>;
}

/**
 * Appends `/v1/traces` to an address without a path, reads headers from `OTEL_EXPORTER_OTLP_HEADERS`, follows no
 * redirect, and tries a request up to three times.
 *
 * @throws CoxswainError "invalid-argument" for no URL
 */
export function otlpCollector(address: string, env: Readonly<Record<string, string | undefined>>): OtlpCollector {
  if (!URL.canParse(address)) throw new CoxswainError('invalid-argument', `--to ${address}: is not an address`);
  const url = new URL(address);
  if (url.pathname === '/') url.pathname = '/v1/traces';
  const headers = { ...headersOf(env['OTEL_EXPORTER_OTLP_HEADERS'] ?? ''), 'content-type': 'application/json' };
  const postOnce = async (body: string): Promise<Attempt> => {
    try {
      const signal = AbortSignal.timeout(LIMIT_MS);
      const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
      const text = await response.text();
      if (response.ok) return { why: rejectedIn(text) };
      const retryAfterMs = Number(response.headers.get('retry-after') ?? Number.NaN) * 1_000;
      return { why: `it answered ${response.status}`, mayRetry: RETRIED.has(response.status), afterMs: retryAfterMs };
    } catch (error) {
      return { why: reasonOf(error), mayRetry: true };
    }
  };
  return {
    name: `${url.protocol}//${url.host}${url.pathname}`,
    async send(request) {
      const body = JSON.stringify(request);
      let attempt = await postOnce(body);
      for (const waitMs of RETRY_WAITS_MS) {
        if (attempt.mayRetry !== true) break;
        await sleep(Math.min(MAX_WAIT_MS, Number.isFinite(attempt.afterMs) ? (attempt.afterMs ?? 0) : waitMs));
        attempt = await postOnce(body);
      }
      return attempt.why;
    },
  };
}

interface Attempt {
  readonly why: string | undefined;
  readonly mayRetry?: boolean;
  /** Delay from the `Retry-After` header in milliseconds; NaN if the header is absent or not a number. */
  readonly afterMs?: number;
}

/** Parses `name=value,name=value` with percent-encoded values, as OpenTelemetry defines it. */
function headersOf(text: string): Readonly<Record<string, string>> {
  const pairs = text.split(',').filter((pair) => pair.includes('='));
  return Object.fromEntries(
    pairs.map((pair) => {
      const separator = pair.indexOf('=');
      return [pair.slice(0, separator).trim(), decodeEscapes(pair.slice(separator + 1).trim())];
    }),
  );
}

function decodeEscapes(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function rejectedIn(text: string): string | undefined {
  const answer = jsonOf(text);
  const partialSuccess = isJsonObject(answer) && isJsonObject(answer['partialSuccess']) ? answer['partialSuccess'] : {};
  const count = Number(partialSuccess['rejectedSpans'] ?? 0);
  const { errorMessage: reason } = partialSuccess;
  return count > 0 ? `it left out ${count} spans: ${typeof reason === 'string' ? reason : 'no reason'}` : undefined;
}
