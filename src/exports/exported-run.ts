import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import type { RunSummary } from '../store/run-summary.ts';

/** A stored run to export. */
export interface ExportedRun {
  readonly run: RunSummary;
  /** Its records in order, from the first one; can be read repeatedly. */
  readonly records: () => AsyncIterable<TrajectoryRecord>;
}
