import type { Json } from '../../base/json.ts';
import type { ToolStarted } from '../../records/trajectory-record.ts';
import type { Counters } from './structure.ts';
import type { PatternBookSnapshot } from './pattern-book.ts';
import type { PackedCall } from './pattern-detector.ts';
import type { WorldSnapshot } from './world.ts';

/** The error of a detector. The detector is disabled for the rest of the run. */
export interface DetectorFault {
  readonly detector: string;
  readonly callIndex: number;
  readonly message: string;
}

export interface TrajectoryAnalysisSnapshot {
  readonly schema_version: 7;
  readonly counters: Counters;
  readonly pending: readonly (readonly [string, PendingCall])[];
  readonly recentCalls: readonly PackedCall[];
  readonly recentErrors: readonly PackedCall[];
  readonly world: WorldSnapshot;
  readonly book: PatternBookSnapshot;
  readonly detectors: Readonly<Record<string, Json>>;
  readonly faults: readonly DetectorFault[];
}

/** A call that has no result yet. */
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

/**
 * For a long-lived process. Smaller than 64 KiB (`bench/fold.bench.ts`); twice as large if every call fails with a
 * different long message.
 */
export const FULL_ANALYSIS_RETENTION: AnalysisRetention = {
  recentCalls: 224,
  recentErrors: 64,
  closedPatterns: 200,
};
