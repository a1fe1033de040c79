import { backoffMs } from '../base/backoff.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import { lastSeqOf } from '../facts/run-summary.ts';
import type { TrajectorySink } from '../store/trajectory-store.ts';
import { appendFault } from './append-fault.ts';
import { faultText } from './fault-text.ts';
import { LossLog } from './loss-log.ts';
import { queueLimits, type QueueLimits, type RecordQueueOptions } from './record-queue-options.ts';
import { QueueCounts } from './queue-counts.ts';
import type { EmitAnswer, FlushAnswer, TimeLimit } from './recorder-answers.ts';
import { recordBytes } from './record-size.ts';
import type { RecorderHealth } from './recorder-health.ts';
import { systemTimers, type Timers } from './timers.ts';
import { forgetUnsaved, watchUnsaved } from './unsaved-queues.ts';
import { Waiters } from './waiters.ts';
import { isGapOnly, type WaitingRecord, type WaitingRun } from './waiting-run.ts';
import { fillHole, WaitingRuns, createSettledCheck } from './waiting-runs.ts';

/** The first and the longest delay of a retry. */
const RETRY_DELAYS = { firstMs: 50, longestMs: 5_000 };
/** Maximum number of concurrent appends of different runs. It is large enough for a sink that commits groups. */
const MAX_APPENDS = 8;

/**
 * Writes records to a sink in batches, in order within each run. `add` never waits. If the sink fails, it is retried with
 * growing pauses while the records wait. A gap record replaces each sequence of lost records, so that every missing `seq`
 * is recorded.
 */
export class RecordQueue {
  readonly #sink: TrajectorySink;
  readonly #options: RecordQueueOptions;
  readonly #limits: QueueLimits;
  readonly #timers: Timers;
  readonly #runs = new WaitingRuns();
  readonly #counts = new QueueCounts();
  readonly #lossLog = new LossLog();
  /** True from `close`, which logs every loss at its end. */
  #isClosing = false;
  #ready: WaitingRun[] = [];
  readonly #waiters: Waiters;
  #appendCount = 0;
  #isScheduled = false;
  #isStalled = false;

  /** @throws CoxswainError "invalid-argument" for a limit out of range */
  constructor(sink: TrajectorySink, options: RecordQueueOptions = {}) {
    this.#sink = sink;
    this.#options = options;
    this.#limits = queueLimits(options);
    this.#timers = options.timers ?? systemTimers;
    this.#waiters = new Waiters(this.#timers);
  }

  /** Queues a record. Never throws or waits. */
  add(record: TrajectoryRecord): EmitAnswer {
    const run = this.#runs.getOrCreate(record);
    run.lastSeq = lastSeqOf(record);
    if (run.isRefused) return this.#drop();
    const bytes = recordBytes(record);
    // The record of a run's end is accepted beyond the limit, because there is one per run.
    const fits = record.payload.kind === 'run_ended' || this.#counts.fits(bytes, this.#limits);
    if (!fits) {
      run.pushGap(record, 'queue full');
      this.#makeReady(run);
      return this.#drop();
    }
    run.push(record, bytes);
    this.#counts.countQueued(bytes);
    this.#makeReady(run);
    return 'accepted';
  }

  /**
   * Returns the last `seq` of a run that the sink has acknowledged. Returns -1 before the first, or if the run was
   * forgotten.
   */
  durableSeq(runId: string): number {
    return this.#runs.find(runId)?.durableSeq ?? -1;
  }

  /**
   * Resolves when everything added before is written or counted as dropped, or after `timeLimitMs`. Records that are not
   * written by then keep waiting. The call retries immediately instead of waiting for the end of a pause.
   *
   * @throws CoxswainError "trajectory-io" or "trajectory-rejected" under the policy `throw`, instead of returning
   *   `incomplete`; its cause is the last error of the sink
   */
  async flush(limit: TimeLimit = {}): Promise<FlushAnswer> {
    const endMs = this.#timers.nowMs() + (limit.timeLimitMs ?? this.#limits.flushTimeLimitMs);
    const remainingMs = (): number => Math.max(0, endMs - this.#timers.nowMs());
    const runs = this.#runs.active;
    const isSettled = createSettledCheck(runs);
    for (const run of runs) this.#retryNow(run);
    this.#pump();
    let isDone = await this.#waiters.waitUntil(isSettled, remainingMs());
    isDone = (await this.#waiters.waitFor(remainingMs(), this.#flushSink())) && isDone;
    if (isDone && !this.#counts.hasNewDrops) return 'stored';
    const error = this.#counts.createFlushError();
    if (this.#options.onFailure === 'throw') throw error;
    return 'incomplete';
  }

  /**
   * Resolves to true when there is room. Under the policy `wait`, the call waits up to `timeLimitMs` and then resolves to
   * false. After that, further calls resolve to false immediately until the sink stores a record again. Never throws.
   */
  async ready(limit: TimeLimit = {}): Promise<boolean> {
    if (this.#hasRoom()) return true;
    if (this.#isStalled) return false;
    const waitMs = limit.timeLimitMs ?? this.#limits.readyTimeLimitMs;
    const hasRoom = await this.#waiters.waitUntil(() => this.#hasRoom(), waitMs);
    this.#isStalled = !hasRoom;
    return hasRoom;
  }

  get isEmpty(): boolean {
    return !this.#runs.hasActive;
  }

  health(): RecorderHealth {
    return { ...this.#counts.health(), ...this.#runs.failingCounts(this.#timers.nowMs()) };
  }

  /** Flushes, then counts the records left in memory as dropped. @throws as `flush` */
  async close(limit: TimeLimit = {}): Promise<FlushAnswer> {
    this.#isClosing = true;
    try {
      return await this.flush(limit);
    } finally {
      this.logUnsaved();
      forgetUnsaved(this);
      for (const run of this.#runs.active) this.#counts.countLost(run.refuse());
      this.#runs.clear();
      this.#ready = [];
    }
  }

  /** Logs every loss for `coxswain doctor`, as if the process ended now. */
  logUnsaved(): void {
    this.#lossLog.logEnd(this.#runs.active, this.#counts, this.#timers.nowMs());
  }

  /** The limit is three quarters, so that several hosts that were waiting still find room. */
  #hasRoom(): boolean {
    return this.#options.overflow !== 'wait' || this.#counts.isBelow(0.75, this.#limits);
  }

  /** The loss is logged after the host's turn of the event loop. */
  #drop(): EmitAnswer {
    watchUnsaved(this);
    this.#schedule();
    return this.#counts.countDrop();
  }

  #makeReady(run: WaitingRun): void {
    this.#runs.activate(run);
    watchUnsaved(this);
    if (run.state !== 'idle') return;
    run.state = 'ready';
    this.#ready.push(run);
    this.#schedule();
  }

  /** Writing starts after the host's turn of the event loop, so that the agent does not wait for a disk. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#pump();
    });
  }

  #pump(): void {
    if (!this.#isClosing) this.#lossLog.logDropped(this.#counts, this.#timers.nowMs());
    while (this.#appendCount < MAX_APPENDS) {
      const run = this.#ready.shift();
      if (run === undefined) break;
      void this.#write(run);
    }
  }

  async #write(run: WaitingRun): Promise<void> {
    const batch = run.takeBatch();
    run.state = 'writing';
    this.#appendCount += 1;
    try {
      const seq = await this.#sink.append(batch.map((item) => item.record));
      run.durableSeq = Math.max(run.durableSeq, seq);
      this.#completeBatch(run, batch);
    } catch (error) {
      // After `close` there is no decision left.
      if (!run.isRefused) this.#handleFailure(run, batch, error);
    }
    this.#appendCount -= 1;
    run.attempts += 1;
    if (run.state === 'writing') {
      run.state = 'idle';
      // A run with only a gap that the sink refused waits until the sink works again.
      if (!run.isEmpty && (run.failures === 0 || run.firstRecordSeq < Infinity)) this.#makeReady(run);
    }
    this.#runs.settle(run);
    if (this.isEmpty && this.#lossLog.isComplete(this.#counts)) forgetUnsaved(this);
    this.#waiters.wake();
    this.#pump();
  }

  #completeBatch(run: WaitingRun, batch: readonly WaitingRecord[]): void {
    this.#counts.countWritten(run.settleBatch(), batch.at(-1)?.record.recorded_at_unix_ms ?? 0);
    this.#isStalled = false;
    this.#lossLog.clearFailing();
    const hasRecovered = run.failures > 0;
    run.failures = 0;
    run.holesFilled = 0;
    run.failingSinceMs = undefined;
    if (hasRecovered) for (const other of this.#runs.active) this.#retryNow(other);
  }

  #handleFailure(run: WaitingRun, batch: readonly WaitingRecord[], error: unknown): void {
    this.#counts.countFault(error);
    const reason = faultText(error);
    switch (appendFault(error)) {
      case 'retry':
        this.#retry(run, reason);
        return;
      case 'over':
        run.failures += 1;
        this.#counts.countLost(run.dropAll(reason));
        return;
      case 'hole':
        if (!fillHole(run, error)) this.#refuse(run);
        return;
      case 'spoiled':
        if (isGapOnly(batch)) this.#refuse(run);
        else if (batch.length === 1) this.#counts.countLost(run.dropBatch(reason));
        else run.halveBatch();
        return;
      case 'refused':
        this.#refuse(run);
    }
  }

  #retry(run: WaitingRun, reason: string): void {
    const nowMs = this.#timers.nowMs();
    run.failingSinceMs ??= nowMs;
    run.failures += 1;
    if (nowMs - run.failingSinceMs >= this.#limits.retryForMs) this.#counts.countLost(run.dropAll(reason));
    if (run.firstRecordSeq === Infinity) {
      run.failingSinceMs = undefined;
      return;
    }
    this.#counts.retries += 1;
    this.#lossLog.logFailing(this.#counts, nowMs - run.failingSinceMs);
    run.state = 'resting';
    const delayMs = backoffMs(run.failures, RETRY_DELAYS, this.#options.random?.());
    run.stopResting = this.#timers.after(delayMs, () => this.#retryNow(run), 'let-go');
  }

  #retryNow(run: WaitingRun): void {
    if (run.state === 'resting') {
      run.stopResting?.();
      run.state = 'idle';
    }
    if (!run.isEmpty && run.state === 'idle') this.#makeReady(run);
  }

  #refuse(run: WaitingRun): void {
    this.#counts.refusedRuns += 1;
    this.#counts.countLost(run.refuse());
  }

  async #flushSink(): Promise<boolean> {
    try {
      await this.#sink.flush();
      return true;
    } catch (error) {
      this.#counts.countFault(error);
      return false;
    }
  }
}
