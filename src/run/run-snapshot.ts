import type { RunLogIdentity } from '../recorder/run-log.ts';
import type { RunFoldSnapshot } from './run-fold.ts';

/** The state of a run as JSON, for `cox.restoreRun(snapshot)`. */
export interface RunSnapshot {
  readonly schema_version: 1;
  readonly identity: RunLogIdentity;
  readonly next_seq: number;
  readonly ended: boolean;
  readonly fold: RunFoldSnapshot;
}
