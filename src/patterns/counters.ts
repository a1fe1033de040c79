import type { Mutable } from '../base/mutable.ts';

/** The plain numbers of a run. */
export interface Counters {
  readonly turns: number;
  readonly calls: number;
  /** Groups of calls that began with none finished in between: they stand for turns where the host tells of none. */
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
  /** When the last result came, Unix milliseconds; 0 where none had a time. */
  readonly lastEndMs: number;
  readonly task: string | null;
}

/** Counters as their one owner counts them: in place, because copying them costs more than the rest of a fold. */
export type OwnCounters = Mutable<Counters>;

/** The counters of a run of which nothing is known yet. */
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
