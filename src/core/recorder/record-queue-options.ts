import { invalidArgument } from '../base/error.ts';
import { removedText } from '../base/removed-names.ts';
import type { Timers } from './timers.ts';

/** The reaction to a failing sink. `drop`: records are dropped and counted. `throw`: `flush` and `end` throw. */
export type FailurePolicy = (typeof FAILURE_POLICIES)[number];
const FAILURE_POLICIES = ['drop', 'throw'] as const;

/**
 * The treatment of a record that exceeds the limits.
 *
 * - `drop-newest`: the record is dropped and counted
 * - `wait`: as `drop-newest`, but hosts that await `run.ready()` are delayed first
 */
export type OverflowPolicy = (typeof OVERFLOW_POLICIES)[number];
const OVERFLOW_POLICIES = ['drop-newest', 'wait'] as const;

/** Options of the queue in front of a store. */
export interface RecordQueueOptions {
  /** Default `drop`: lost records are counted and recorded as a gap. The agent is not affected. */
  readonly onFailure?: FailurePolicy;
  /** Default `drop-newest`. */
  readonly overflow?: OverflowPolicy;
  /** Maximum number of records waiting in memory. Default 10,000. */
  readonly maxQueued?: number;
  /** Maximum number of estimated bytes waiting in memory. An empty queue also accepts a larger record. Default 64 MiB. */
  readonly maxQueuedBytes?: number;
  /** Time in milliseconds for which the records of a run are retried before they are dropped. Default 600,000 (ten minutes). */
  readonly retryForMs?: number;
  /** Maximum time in milliseconds that `flush` and `end` wait. Default 5,000. */
  readonly flushTimeLimitMs?: number;
  /** Maximum time in milliseconds that `ready` waits. Default 5,000. */
  readonly readyTimeLimitMs?: number;
  /** Default: the timers of the machine. */
  readonly timers?: Timers;
  /** Returns a number from 0 to 1, for the jitter of retries. Default `Math.random`. */
  readonly random?: () => number;
}

/** The limits of the options, with defaults. */
export interface QueueLimits {
  readonly maxQueued: number;
  readonly maxQueuedBytes: number;
  readonly retryForMs: number;
  readonly flushTimeLimitMs: number;
  readonly readyTimeLimitMs: number;
}

/**
 * @throws CoxswainError "invalid-argument" for a limit below 1 (sizes) or 0 (times), or that is not a number, and for an
 *   unknown policy
 */
export function queueLimits(options: RecordQueueOptions): QueueLimits {
  checkPolicy('onFailure', options.onFailure, FAILURE_POLICIES);
  checkPolicy('overflow', options.overflow, OVERFLOW_POLICIES);
  const limits: QueueLimits = {
    maxQueued: options.maxQueued ?? 10_000,
    maxQueuedBytes: options.maxQueuedBytes ?? 64 * 1024 * 1024,
    retryForMs: options.retryForMs ?? 600_000,
    flushTimeLimitMs: options.flushTimeLimitMs ?? 5_000,
    readyTimeLimitMs: options.readyTimeLimitMs ?? 5_000,
  };
  for (const [name, value] of Object.entries(limits)) {
    const least = name.endsWith('Ms') ? 0 : 1;
    if (!(value >= least)) throw invalidArgument(`${name} must be at least ${least}, got ${value}`);
  }
  return limits;
}

function checkPolicy(name: string, policy: string | undefined, policies: readonly string[]): void {
  if (policy === undefined || policies.includes(policy)) return;
  const removed = removedText(policy);
  throw invalidArgument(
    `${name} must be ${policies.join(' or ')}, got ${JSON.stringify(policy)}${removed === undefined ? '' : `; ${removed}`}`,
  );
}
