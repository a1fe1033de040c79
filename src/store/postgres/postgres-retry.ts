import { setTimeout as sleep } from 'node:timers/promises';

import { systemClock } from '../../base/clock.ts';

const FIRST_WAIT_MS = 20;
const LONGEST_WAIT_MS = 1000;

/** SQLSTATEs with which the server ends a connection or does not take one. */
const LOST_STATES = /^(?:08...|57P0[123]|53300)$/;

/** What a standby answers to a write: read_only_sql_transaction. It may be promoted, or another server is the primary. */
const READ_ONLY = '25006';

/** SQLSTATEs after which the same work may succeed a moment later: serialization_failure and deadlock_detected. */
const TRANSIENT_STATES: ReadonlySet<string> = new Set(['40001', '40P01', READ_ONLY]);

/** Codes of Node and of the package `postgres` for a connection that broke or was not made. */
const LOST_CODES: ReadonlySet<string> = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/** The package `pg` has no codes for these; the last is what the package `postgres` says of a socket that is gone. */
const LOST_MESSAGES =
  /^(?:Connection terminated|Client has encountered a connection error|Client was closed|timeout exceeded when trying to connect|timeout expired|Cannot read properties of null \(reading 'write'\))/;

/** True when the connection is gone, or will be at once. */
export function isLostConnection(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  const code = stateOf(thrown);
  return code === undefined ? LOST_MESSAGES.test(thrown.message) : LOST_CODES.has(code) || LOST_STATES.test(code);
}

/** True when the connection leads to a server that does not write. */
export function isReadOnly(thrown: unknown): boolean {
  return thrown instanceof Error && stateOf(thrown) === READ_ONLY;
}

function isTransient(thrown: unknown): boolean {
  return isLostConnection(thrown) || (thrown instanceof Error && TRANSIENT_STATES.has(stateOf(thrown) ?? ''));
}

function stateOf(thrown: Error): string | undefined {
  return 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined;
}

/** How long to wait before the next attempt, in milliseconds: doubling, jittered, at most a second. */
export function backoffMs(failures: number): number {
  const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures - 1, 10));
  return longest * (0.5 + Math.random() / 2);
}

/**
 * Does something that may be done again until it succeeds, fails for good, or has been tried for `retryForMs`.
 *
 * @param attempt  told how many attempts went before it
 * @throws what the last attempt threw
 */
export async function withRetry<T>(retryForMs: number, attempt: (before: number) => Promise<T>): Promise<T> {
  const until = systemClock.nowMs() + retryForMs;
  for (let before = 0; ; before += 1) {
    try {
      return await attempt(before);
    } catch (thrown) {
      const waitMs = backoffMs(before + 1);
      if (!isTransient(thrown) || systemClock.nowMs() + waitMs > until) throw thrown;
      await sleep(waitMs);
    }
  }
}
