import type { InputCounts } from '../base/input-fault.ts';
import type { SpillHealth } from './spill-file.ts';
import type { SpillRecovery } from './recover-spills.ts';

/** How a recorder is doing. Plain JSON. */
export interface RecorderHealth {
  /** Records that wait in memory, and about how many bytes they take there. */
  readonly queued: number;
  readonly queuedBytes: number;
  readonly written: number;
  /** Records lost: no room, or the sink refused them for good. A gap record stands for them. */
  readonly dropped: number;
  /** Times the sink refused. */
  readonly faults: number;
  readonly lastFault?: string;
  /** Batches that were, or will be, tried again. */
  readonly retries: number;
  /** Runs whose records are being tried again now, and for how long the first of them has been. */
  readonly failingRuns: number;
  readonly failingForMs: number;
  /** Runs whose id the sink holds with other records. Nothing more of them is stored. */
  readonly refusedRuns: number;
  /** Unix milliseconds of the newest record that was written; 0 before the first. */
  readonly lastRecordAtMs: number;
  /** While records go through the spill file. */
  readonly spill?: SpillHealth;
  /** What was wrong with events, where the recorder takes them itself; absent while nothing was. */
  readonly input?: InputCounts;
  /** What was found in the spill folder at the start. */
  readonly recovered?: SpillRecovery;
}
