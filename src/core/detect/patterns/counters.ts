import type { Mutable } from '../../base/mutable.ts';

/** The numeric state of a run. */
export interface Counters {
  readonly turns: number;
  readonly calls: number;
  /** Number of groups of calls that started before any call of the group finished. Used as turns if the host reports no turns. */
  readonly batches: number;
  /** True if no call has finished since the last call started. */
  readonly batchOpen: boolean;
  readonly finished: number;
  readonly errors: number;
  readonly consecutiveErrors: number;
  readonly refused: number;
  /** True if a call was refused since the last user message. */
  readonly refusalStands: boolean;
  readonly userMessages: number;
  readonly compactions: number;
  readonly ordinal: number;
  /** True if the last step was a pause. */
  readonly waited: boolean;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  /** Time of the last result in Unix milliseconds; 0 if unknown. */
  readonly lastEndMs: number;
  readonly task: string | null;
}

/** Mutable counters. The analysis changes them in place, because copying them would cost more than the rest of a fold. */
export type OwnCounters = Mutable<Counters>;

export function newCounters(): OwnCounters {
  return {
    turns: 0,
    calls: 0,
    batches: 0,
    batchOpen: false,
    finished: 0,
    errors: 0,
    consecutiveErrors: 0,
    refused: 0,
    refusalStands: false,
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
