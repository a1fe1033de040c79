import { get } from 'node:http';

import { isJsonObject, jsonOf } from '../../core/base/json.ts';
import type { OtlpFacts } from '../otlp/otlp-intake.ts';
import type { ServeSettings } from './serve-settings.ts';

/** The state of a server, returned to requests that have the token. Plain JSON. */
export interface ServerFacts {
  readonly pid: number;
  readonly build: string;
  readonly project: string;
  /** Unix milliseconds. */
  readonly startedAtMs: number;
  /** Time of the last event. Null before the first event. */
  readonly lastEventAtMs: number | null;
  readonly events: number;
  readonly runs: number;
  readonly faults: number;
  readonly idleLimitMs: number;
  /** Absent in responses of earlier versions. */
  readonly otlp?: OtlpFacts;
}

/** The program that listens at a server's address: the coxswain server, another program, or nothing. */
export type ServerHealth =
  | { readonly kind: 'ours'; readonly facts: ServerFacts }
  | { readonly kind: 'foreign'; readonly why: string }
  /** `isSilent`: there was no answer within the time limit. */
  | { readonly kind: 'none'; readonly why: string; readonly isSilent?: true };

const LIMIT_MS = 2_000;
const MAX_CHARS = 10_000;

/** Requests the state of a server. Waits at most two seconds. Never rejects. */
export async function serverHealth({ port, token }: Pick<ServeSettings, 'port' | 'token'>): Promise<ServerHealth> {
  return new Promise((resolve) => {
    let isSilent = false;
    const resolveNone = (reason: string): void => resolve({ kind: 'none', why: reason, ...(isSilent && { isSilent }) });
    const headers = { authorization: `Bearer ${token}` };
    const request = get({ host: '127.0.0.1', port, path: '/health', headers, agent: false }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (text: string) => (body = (body + text).slice(0, MAX_CHARS)));
      response.on('error', (error) => resolveNone(error.message));
      response.on('end', () => resolve(healthOf(response.statusCode ?? 0, body)));
    });
    request.on('error', (error) => resolveNone(error.message));
    const timer = setTimeout(() => {
      isSilent = true;
      request.destroy(new Error(`no response in ${LIMIT_MS / 1000} seconds`));
    }, LIMIT_MS);
    request.on('close', () => clearTimeout(timer));
  });
}

function healthOf(status: number, body: string): ServerHealth {
  if (status === 401) return { kind: 'foreign', why: 'it rejects the token' };
  const facts = status === 200 ? factsOf(body) : undefined;
  return facts === undefined ? { kind: 'foreign', why: `it responds with status ${status}` } : { kind: 'ours', facts };
}

function factsOf(body: string): ServerFacts | undefined {
  const json = jsonOf(body);
  const isOurs = isJsonObject(json) && typeof json['pid'] === 'number' && typeof json['project'] === 'string';
  // Only the coxswain server knows the token.
  return isOurs ? (json as unknown as ServerFacts) : undefined;
}
