import { setTimeout as sleep } from 'node:timers/promises';

import { CoxswainError } from '../../core/base/error.ts';
import { isJsonObject, jsonOf, type JsonObject } from '../../core/base/json.ts';
import { reasonOf } from '../../core/base/fetch-fault.ts';

const LIMIT_MS = 10_000;
/** HTTP status codes after which OTLP allows a retry. */
const RETRIED: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const RETRY_WAITS_MS = [1_000, 5_000];
const MAX_WAIT_MS = 30_000;

/** A receiver of OTLP over HTTP. */
export interface OtlpCollector {
  /** The address without credentials. */
  readonly name: string;
  /** Sends one request. @returns a message if the collector rejected all or part of it, else undefined */
  send(request: JsonObject): Promise<string | undefined>;
}

/**
 * Creates a client for the collector at an address such as `http://localhost:4318`. Appends `/v1/traces` to an address without a
 * path. Reads headers from `OTEL_EXPORTER_OTLP_HEADERS`. Does not follow redirects. Tries a request up to three times while
 * failures are transient.
 *
 * @throws CoxswainError "invalid-argument" if the address is not a URL
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

/** Returns the message of a partial rejection: a collector may accept only part of a request. */
function rejectedIn(text: string): string | undefined {
  const answer = jsonOf(text);
  const partialSuccess = isJsonObject(answer) && isJsonObject(answer['partialSuccess']) ? answer['partialSuccess'] : {};
  const count = Number(partialSuccess['rejectedSpans'] ?? 0);
  const { errorMessage: reason } = partialSuccess;
  return count > 0 ? `it left out ${count} spans: ${typeof reason === 'string' ? reason : 'no reason'}` : undefined;
}
