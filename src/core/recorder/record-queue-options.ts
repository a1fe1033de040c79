import { invalidArgument } from '../base/error.ts';
import type { InputCounts } from '../base/input-fault.ts';

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

export type QueueLimits = Required<Omit<RecordQueueOptions, 'onFailure' | 'overflow' | 'timers' | 'random'>>;

/** Throws CoxswainError "invalid-argument" for a limit below 1 (sizes) or 0 (times), no number, or an unknown policy. */
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
  throw invalidArgument(`${name} must be ${policies.join(' or ')}, got ${JSON.stringify(policy)}`);
}

/**
 * The result of `emit`.
 *
 * - `accepted`: the event is a valid record and waits to be written, or it is a streaming delta, which is not recorded
 * - `dropped`: the event is not recorded, and `health()` counts it: the queue is full (`recorder.dropped`), the run has
 *   ended (`input.lateEvents`), a provider emitted it while too many events were waiting (`input.crowded`), or it is
 *   unusable (`input.refused`)
 */
export type EmitAnswer = 'accepted' | 'dropped';

/** `stored`: everything added before is stored. `incomplete`: some records were dropped or still wait. */
export type FlushAnswer = 'stored' | 'incomplete';

export interface EndAnswer {
  /** True if every record of the run is stored. False without a store. */
  readonly stored: boolean;
  /** Number of records of the run that were lost. Records that still wait are not counted. */
  readonly lostRecords: number;
}

/** The maximum time that a call may wait, in milliseconds. */
export interface TimeLimit {
  readonly timeLimitMs?: number;
}

/** The state of a recorder. Plain JSON. */
export interface RecorderHealth {
  /** Number of records waiting in memory, and their estimated bytes. */
  readonly queued: number;
  readonly queuedBytes: number;
  readonly written: number;
  /** Number of lost records. The queue was full, or the sink refused them permanently. A gap record replaces them. */
  readonly dropped: number;
  readonly faults: number;
  readonly lastFault?: string;
  readonly retries: number;
  /** Number of runs whose records are being retried, and how long the first of these runs has been failing. */
  readonly failingRuns: number;
  readonly failingForMs: number;
  /** Number of runs whose id the sink already has with other records. No more records of these runs are stored. */
  readonly refusedRuns: number;
  /** Unix milliseconds of the newest written record; 0 before the first. */
  readonly lastRecordAtMs: number;
  /** Faults in events that the recorder itself received. Absent before the first. */
  readonly input?: InputCounts;
}

export interface Timers {
  /** Returns the milliseconds of a clock that never runs backwards. */
  nowMs(): number;
  /** Calls `run` once, after `delayMs`. `hold` keeps the process alive, `let-go` does not. Returns a function that cancels it. */
  after(delayMs: number, run: () => void, hold: 'hold' | 'let-go'): () => void;
}

export const systemTimers: Timers = {
  nowMs: () => performance.now(),
  after: (delayMs, run, hold) => {
    const timer = setTimeout(run, delayMs);
    if (hold === 'let-go') timer.unref();
    return () => clearTimeout(timer);
  },
};
