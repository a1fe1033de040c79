import { setTimeout as sleep } from 'node:timers/promises';

import { CoxswainError } from '../base/error.ts';
import { isJsonObject, jsonOf, type JsonObject } from '../base/json.ts';
import { reasonOf } from '../base/fetch-fault.ts';

const LIMIT_MS = 10_000;
/** Status codes that OTLP allows to retry. */
const RETRIED: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const RETRY_WAITS_MS = [1_000, 5_000];
const MAX_WAIT_MS = 30_000;

/** A receiver of OTLP over HTTP. */
export interface OtlpCollector {
  /** The address without credentials. */
  readonly name: string;
  /** Sends one request. @returns the rejected part and the reason; undefined if all was accepted */
  send(request: JsonObject): Promise<string | undefined>;
}

/**
 * A collector by its address, such as `http://localhost:4318`; `/v1/traces` is appended to an address without a path. Headers come from
 * `OTEL_EXPORTER_OTLP_HEADERS`. Redirects are not followed; transient failures are tried three times.
 *
 * @throws CoxswainError "invalid-argument" when it is not a URL
 */
export function otlpCollector(address: string, env: Readonly<Record<string, string | undefined>>): OtlpCollector {
  if (!URL.canParse(address)) throw new CoxswainError('invalid-argument', `--to ${address}: is no address`);
  const url = new URL(address);
  if (url.pathname === '/') url.pathname = '/v1/traces';
  const headers = { ...headersOf(env['OTEL_EXPORTER_OTLP_HEADERS'] ?? ''), 'content-type': 'application/json' };
  const once = async (body: string): Promise<Attempt> => {
    try {
      const signal = AbortSignal.timeout(LIMIT_MS);
      const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
      const text = await response.text();
      if (response.ok) return { why: rejectedIn(text) };
      const after = Number(response.headers.get('retry-after') ?? Number.NaN) * 1_000;
      return { why: `it answered ${response.status}`, mayRetry: RETRIED.has(response.status), afterMs: after };
    } catch (error) {
      return { why: reasonOf(error), mayRetry: true };
    }
  };
  return {
    name: `${url.protocol}//${url.host}${url.pathname}`,
    async send(request) {
      const body = JSON.stringify(request);
      let attempt = await once(body);
      for (const waitMs of RETRY_WAITS_MS) {
        if (attempt.mayRetry !== true) break;
        await sleep(Math.min(MAX_WAIT_MS, Number.isFinite(attempt.afterMs) ? (attempt.afterMs ?? 0) : waitMs));
        attempt = await once(body);
      }
      return attempt.why;
    },
  };
}

interface Attempt {
  readonly why: string | undefined;
  readonly mayRetry?: boolean;
  /** The collector's `Retry-After`; may not be a number. */
  readonly afterMs?: number;
}

/** Parses `name=value,name=value` with percent-encoded values, as OpenTelemetry defines it. */
function headersOf(text: string): Readonly<Record<string, string>> {
  const pairs = text.split(',').filter((pair) => pair.includes('='));
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())];
    }),
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A collector may accept only part of a request. */
function rejectedIn(text: string): string | undefined {
  const answer = jsonOf(text);
  const partial = isJsonObject(answer) && isJsonObject(answer['partialSuccess']) ? answer['partialSuccess'] : {};
  const count = Number(partial['rejectedSpans'] ?? 0);
  const { errorMessage: why } = partial;
  return count > 0 ? `it left out ${count} spans: ${typeof why === 'string' ? why : 'no reason'}` : undefined;
}
