import type { Json } from '../../base/json.ts';
import type { ToolStarted } from '../../records/trajectory-record.ts';
import type { PatternBookSnapshot } from './pattern-book.ts';
import type { PackedCall } from './pattern-detector.ts';
import type { WorldSnapshot } from './world.ts';

const NO_COUNTS = {
  turns: 0,
  /** Number of turns that began without a record: with a call that was not announced, after another call had finished. */
  silentTurns: 0,
  /** Number of calls that the last message of the model announced and that have not started. */
  announced: 0,
  calls: 0,
  /** True if the next call is of the same turn: no call has finished since the last one started or the turn began. */
  batchOpen: false,
  finished: 0,
  errors: 0,
  consecutiveErrors: 0,
  refused: 0,
  /** True if a call was refused since the last user message. */
  refusalStands: false,
  userMessages: 0,
  /** As in `TextPlace`. */
  requests: 0,
  /** Key of the last message of the user. */
  lastRequest: '',
  compactions: 0,
  ordinal: 0,
  /** True if the last step was a pause. */
  waited: false,
  firstAtMs: 0,
  lastAtMs: 0,
  /** Time of the last result in Unix milliseconds; 0 if unknown. */
  lastEndMs: 0,
};

/** Mutable counters. The analysis changes them in place, because copying them would cost more than the rest of a fold. */
export type OwnCounters = typeof NO_COUNTS & { task: string | null };
export type Counters = Readonly<OwnCounters>;

export function newCounters(): OwnCounters {
  return { ...NO_COUNTS, task: null };
}

/** The error of a detector. The detector is disabled for the rest of the run. */
export interface DetectorFault {
  readonly detector: string;
  readonly callIndex: number;
  readonly message: string;
}

export interface TrajectoryAnalysisSnapshot {
  readonly schema_version: 8;
  readonly counters: Counters;
  readonly pending: readonly (readonly [string, PendingCall])[];
  readonly recentCalls: readonly PackedCall[];
  readonly recentErrors: readonly PackedCall[];
  readonly world: WorldSnapshot;
  readonly book: PatternBookSnapshot;
  readonly detectors: Readonly<Record<string, Json>>;
  readonly faults: readonly DetectorFault[];
}

export interface PendingCall {
  readonly index: number;
  readonly turn: number;
  readonly args: Json;
  readonly annotations?: ToolStarted['annotations'];
  /** The call started long after the previous result. */
  readonly rested?: true;
}

/** Limits on the history that an analysis keeps. Counts and detectors do not depend on these limits. */
export interface AnalysisRetention {
  /** Maximum number of calls that `recentCalls()` returns. */
  readonly recentCalls: number;
  /** Maximum number of failed calls that `recentErrors()` returns. */
  readonly recentErrors: number;
  /** Maximum number of closed patterns that `patterns()` returns. */
  readonly closedPatterns: number;
}

/** For a long-lived process. Below 64 KiB (`bench/fold.bench.ts`), or twice that if all calls fail with long messages. */
export const FULL_ANALYSIS_RETENTION: AnalysisRetention = {
  recentCalls: 224,
  recentErrors: 64,
  closedPatterns: 200,
};
