import type { Json } from '../../base/json.ts';
import type { ToolStarted } from '../../records/trajectory-record.ts';
import type { Counters } from './counters.ts';
import type { PatternBookSnapshot } from './pattern-book.ts';
import type { PackedCall } from './recent-call.ts';
import type { WorldSnapshot } from './world.ts';

/** The error of a detector. The detector is disabled for the rest of the run. */
export interface DetectorFault {
  readonly detector: string;
  readonly callIndex: number;
  readonly message: string;
}

/** The complete state of an analysis as JSON. */
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
