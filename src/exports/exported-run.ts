import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import type { RunSummary } from '../store/run-summary.ts';

export interface ExportedRun {
  readonly run: RunSummary;
  /** Returns all records of the run in order. Can be called repeatedly. */
  readonly records: () => AsyncIterable<TrajectoryRecord>;
}
