import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import type { RunSummary } from '../../core/facts/run-summary.ts';

export interface ExportedRun {
  readonly run: RunSummary;
  /** Returns all records of the run in order. Can be called repeatedly. */
  readonly records: () => AsyncIterable<TrajectoryRecord>;
}
