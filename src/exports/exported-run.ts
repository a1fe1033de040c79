import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import type { RunSummary } from '../store/run-summary.ts';

/** A stored run that is exported. */
export interface ExportedRun {
  readonly run: RunSummary;
  /** Its records in order, from the first one; may be read more than once. */
  readonly records: () => AsyncIterable<TrajectoryRecord>;
}
