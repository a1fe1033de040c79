import { present } from '../base/present.ts';
import { appendFault } from './append-fault.ts';
import { CoxswainError } from '../base/error.ts';
import { faultText } from './fault-text.ts';
import type { QueueLimits } from './record-queue-options.ts';
import type { EmitAnswer } from './recorder-answers.ts';
import type { RecorderHealth } from './recorder-health.ts';
import type { Load } from './waiting-run.ts';

export class QueueCounts {
  queued = 0;
  queuedBytes = 0;
  written = 0;
  dropped = 0;
  faults = 0;
  lastFault: unknown;
  retries = 0;
  refusedRuns = 0;
  lastRecordAtMs = 0;
  #reportedDrops = 0;

  get hasNewDrops(): boolean {
    return this.dropped > this.#reportedDrops;
  }

  countFault(error: unknown): void {
    this.faults += 1;
    this.lastFault = error;
  }

  /** Counts a record that was not accepted. */
  countDrop(): EmitAnswer {
    this.dropped += 1;
    return 'dropped';
  }

  countQueued(bytes: number): void {
    this.queued += 1;
    this.queuedBytes += bytes;
  }

  release(load: Load): void {
    this.queued -= load.records;
    this.queuedBytes -= load.bytes;
  }

  countWritten(load: Load, atMs: number): void {
    this.release(load);
    this.written += load.records;
    this.lastRecordAtMs = Math.max(this.lastRecordAtMs, atMs);
  }

  countLost(load: Load): void {
    this.release(load);
    this.dropped += load.records;
  }

  /** An empty queue accepts a record of any size. */
  fits(bytes: number, limits: QueueLimits): boolean {
    return this.queued === 0 || (this.queued < limits.maxQueued && this.queuedBytes + bytes <= limits.maxQueuedBytes);
  }

  isBelow(share: number, limits: QueueLimits): boolean {
    return this.queued < limits.maxQueued * share && this.queuedBytes < limits.maxQueuedBytes * share;
  }

  health(): Omit<RecorderHealth, 'failingRuns' | 'failingForMs'> {
    const { queued, queuedBytes, written, dropped, faults, lastFault, retries, refusedRuns, lastRecordAtMs } = this;
    return {
      queued,
      queuedBytes,
      written,
      dropped,
      faults,
      ...(lastFault === undefined ? {} : { lastFault: faultText(lastFault) }),
      retries,
      refusedRuns,
      lastRecordAtMs,
    };
  }

  /** Creates the error of a `flush` that could not store everything. Each lost record is reported once. */
  createFlushError(): CoxswainError {
    const lost = this.dropped - this.#reportedDrops;
    this.#reportedDrops = this.dropped;
    const waiting = this.queued;
    const cause = this.lastFault;
    return new CoxswainError(
      isRejection(cause) ? 'trajectory-rejected' : 'trajectory-io',
      `records could not be stored: ${lost} lost, ${waiting} still waiting` +
        (cause === undefined ? '' : `; the last error was: ${faultText(cause)}`),
      { details: { lost, waiting }, ...present({ cause }) },
    );
  }
}

/** Returns true if the sink works but refuses these records. */
function isRejection(fault: unknown): boolean {
  const kind = appendFault(fault);
  return kind === 'refused' || kind === 'spoiled';
}
