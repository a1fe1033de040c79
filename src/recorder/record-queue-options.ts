import { invalidArgument } from '../base/error.ts';
import type { Timers } from './timers.ts';

/** What a failing sink leads to: records are dropped and counted, or `flush` and `end` throw. */
export type FailurePolicy = 'drop' | 'throw';

/**
 * What becomes of a record for which there is no room.
 *
 * - `drop-newest`: it is dropped and counted
 * - `spill`: it goes to a file and from there to the store, when the store is back
 * - `wait`: as `drop-newest`, but a host that awaits `run.ready()` is held up before it comes to that
 */
export type OverflowPolicy = 'drop-newest' | 'spill' | 'wait';

/** How records wait for a store. */
export interface RecordQueueOptions {
  /** What a failing store leads to. Default `drop`: counted, recorded as a gap, never felt by the agent. */
  readonly onFailure?: FailurePolicy;
  /** Default `drop-newest`. */
  readonly overflow?: OverflowPolicy;
  /** Most records waiting in memory. Default 10,000. */
  readonly maxQueued?: number;
  /** Most bytes waiting in memory, estimated; a larger record is taken when nothing else waits. Default 64 MiB. */
  readonly maxQueuedBytes?: number;
  /**
   * Folder of the spill file. Default: the system's folder for temporary files. Where it is given, files that a crashed
   * process left there are stored at the start; give each store a folder of its own.
   */
  readonly spillFolder?: string;
  /** Most bytes in the spill file; what comes then is dropped. Default 1 GiB. */
  readonly maxSpillBytes?: number;
  /** How long a run's records are tried again before they are dropped, in milliseconds. Default 600,000 (ten minutes). */
  readonly retryForMs?: number;
  /** How long `flush` and `end` wait at most, in milliseconds. Default 5,000. */
  readonly flushTimeLimitMs?: number;
  /** How long `ready` waits at most, in milliseconds. Default 5,000. */
  readonly readyTimeLimitMs?: number;
  /** Default: the machine's. */
  readonly timers?: Timers;
  /** 0 to 1, for the spread of retries. Default `Math.random`. */
  readonly random?: () => number;
}

/** The numbers of the options, with every default filled in. */
export interface QueueLimits {
  readonly maxQueued: number;
  readonly maxQueuedBytes: number;
  readonly maxSpillBytes: number;
  readonly retryForMs: number;
  readonly flushTimeLimitMs: number;
  readonly readyTimeLimitMs: number;
}

/** @throws CoxswainError "invalid-argument" for a limit below 1 (sizes) or 0 (times), or not a number */
export function queueLimits(options: RecordQueueOptions): QueueLimits {
  const limits: QueueLimits = {
    maxQueued: options.maxQueued ?? 10_000,
    maxQueuedBytes: options.maxQueuedBytes ?? 64 * 1024 * 1024,
    maxSpillBytes: options.maxSpillBytes ?? 1024 * 1024 * 1024,
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
