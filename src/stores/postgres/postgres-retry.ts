import { setTimeout as sleep } from 'node:timers/promises';

import { backoffMs, systemClock } from '../../core/base/clock.ts';
import { codeOf, hasCode } from '../../core/base/error.ts';

export const RETRY_DELAYS = { firstMs: 20, longestMs: 1000 } as const;

/** SQLSTATEs with which the server ends or refuses a connection. */
const LOST_STATES = /^(?:08...|57P0[123]|53300)$/;

/** read_only_sql_transaction: a standby refuses a write. It may be promoted, or another server may be the primary. */
const READ_ONLY = '25006';

/** SQLSTATEs after which a retry may succeed: serialization_failure, deadlock_detected and a read-only server. */
const TRANSIENT_STATES: ReadonlySet<string> = new Set(['40001', '40P01', READ_ONLY]);

/** Codes of Node for a broken or failed connection. */
const LOST_CODES: ReadonlySet<string> = new Set([
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

/** Messages of the package `pg`, which has no codes for these. */
const LOST_MESSAGES =
  /^(?:Connection terminated|Client has encountered a connection error|Client was closed|timeout exceeded when trying to connect|timeout expired)/;

export function isLostConnection(thrown: unknown): boolean {
  const code = codeOf(thrown);
  if (code !== undefined) return LOST_CODES.has(code) || LOST_STATES.test(code);
  return thrown instanceof Error && LOST_MESSAGES.test(thrown.message);
}

export function isReadOnly(thrown: unknown): boolean {
  return hasCode(thrown, READ_ONLY);
}

function isTransient(thrown: unknown): boolean {
  return isLostConnection(thrown) || TRANSIENT_STATES.has(codeOf(thrown) ?? '');
}

/**
 * @param attempt  receives the number of earlier attempts
 * @throws what the last attempt threw
 */
export async function withRetry<T>(retryForMs: number, attempt: (earlierAttempts: number) => Promise<T>): Promise<T> {
  const endMs = systemClock.nowMs() + retryForMs;
  for (let attempts = 0; ; attempts += 1) {
    try {
      return await attempt(attempts);
    } catch (thrown) {
      const waitMs = backoffMs(attempts + 1, RETRY_DELAYS);
      if (!isTransient(thrown) || systemClock.nowMs() + waitMs > endMs) throw thrown;
      await sleep(waitMs);
    }
  }
}
