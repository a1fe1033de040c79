import type { InputCounts } from '../base/input-fault.ts';
import type { SpillHealth } from './spill-file.ts';
import type { SpillRecovery } from './recover-spills.ts';

/** The state of a recorder. Plain JSON. */
export interface RecorderHealth {
  /** Records waiting in memory, and their estimated bytes. */
  readonly queued: number;
  readonly queuedBytes: number;
  readonly written: number;
  /** Lost records: the queue was full, or the sink refused them permanently. A gap record replaces them. */
  readonly dropped: number;
  /** Failed appends and flushes of the sink. */
  readonly faults: number;
  readonly lastFault?: string;
  /** Batches that were, or will be, retried. */
  readonly retries: number;
  /** Runs whose records are being retried now, and for how long the first of them has been. */
  readonly failingRuns: number;
  readonly failingForMs: number;
  /** Runs under whose id the sink holds other records. Nothing more of them is stored. */
  readonly refusedRuns: number;
  /** Unix milliseconds of the newest written record; 0 before the first. */
  readonly lastRecordAtMs: number;
  /** Present while records go through the spill file. */
  readonly spill?: SpillHealth;
  /** Faults in events that the recorder received itself; absent before the first. */
  readonly input?: InputCounts;
  /** Records found in the spill folder at startup. */
  readonly recovered?: SpillRecovery;
}
