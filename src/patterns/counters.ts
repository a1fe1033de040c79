import type { Mutable } from '../base/mutable.ts';

/** The plain numbers of a run. */
export interface Counters {
  readonly turns: number;
  readonly calls: number;
  /** Groups of calls that began before any of them finished: the turns of a host that reports none. */
  readonly batches: number;
  /** No call has finished since the last one began. */
  readonly batchOpen: boolean;
  readonly finished: number;
  readonly errors: number;
  readonly consecutiveErrors: number;
  readonly userMessages: number;
  readonly compactions: number;
  readonly ordinal: number;
  /** The last step was a pause. */
  readonly waited: boolean;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  /** Time of the last result, Unix milliseconds; 0 if unknown. */
  readonly lastEndMs: number;
  readonly task: string | null;
}

/** Counters that their owner changes in place: copying them costs more than the rest of a fold. */
export type OwnCounters = Mutable<Counters>;

/** The counters of a new run. */
export function newCounters(): OwnCounters {
  return {
    turns: 0,
    calls: 0,
    batches: 0,
    batchOpen: false,
    finished: 0,
    errors: 0,
    consecutiveErrors: 0,
    userMessages: 0,
    compactions: 0,
    ordinal: 0,
    waited: false,
    firstAtMs: 0,
    lastAtMs: 0,
    lastEndMs: 0,
    task: null,
  };
}
