import type { InputCounts } from '../base/input-fault.ts';

/** The state of a recorder. Plain JSON. */
export interface RecorderHealth {
  /** Number of records waiting in memory, and their estimated bytes. */
  readonly queued: number;
  readonly queuedBytes: number;
  readonly written: number;
  /** Number of lost records. The queue was full, or the sink refused them permanently. A gap record replaces them. */
  readonly dropped: number;
  /** Number of failed appends and flushes of the sink. */
  readonly faults: number;
  readonly lastFault?: string;
  /** Number of batches that were retried or will be retried. */
  readonly retries: number;
  /** Number of runs whose records are being retried, and how long the first of these runs has been failing. */
  readonly failingRuns: number;
  readonly failingForMs: number;
  /** Number of runs whose id the sink already has with other records. No more records of these runs are stored. */
  readonly refusedRuns: number;
  /** Unix milliseconds of the newest written record; 0 before the first. */
  readonly lastRecordAtMs: number;
  /** Faults in events that the recorder itself received. Absent before the first. */
  readonly input?: InputCounts;
}
