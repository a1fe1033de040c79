import { present } from '../base/present.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import { lastSeqOf } from '../store/run-summary.ts';
import type { TrajectorySink } from '../store/trajectory-store.ts';
import { appendFault } from './append-fault.ts';
import { faultText } from './fault-text.ts';
import { isGap } from './gap-record.ts';
import { queueLimits, type QueueLimits, type RecordQueueOptions } from './record-queue-options.ts';
import { QueueCounts } from './queue-counts.ts';
import type { EmitAnswer, FlushAnswer, TimeLimit } from './recorder-answers.ts';
import { recordBytes } from './record-size.ts';
import type { RecorderHealth } from './recorder-health.ts';
import { recoverSpills, type SpillRecovery } from './recover-spills.ts';
import { retryDelayMs } from './retry-delay.ts';
import { Spill } from './spill.ts';
import { systemTimers, type Timers } from './timers.ts';
import { Waiters } from './waiters.ts';
import { isGapOnly, type Waiting, type WaitingRun } from './waiting-run.ts';
import { fillHole, WaitingRuns, whenSettled } from './waiting-runs.ts';

/** Appends of different runs at once: enough for a sink that commits them as a group. */
const MAX_APPENDS = 8;

/**
 * Hands records to a sink in order, run by run, in batches. `add` never waits. A sink that fails is tried again, with
 * growing pauses, while the records wait. Records that are lost are replaced by one gap record a stretch, so that a
 * run's `seq` has no hole that nothing speaks of.
 */
export class RecordQueue {
  readonly #sink: TrajectorySink;
  readonly #options: RecordQueueOptions;
  readonly #limits: QueueLimits;
  readonly #timers: Timers;
  readonly #spill: Spill | undefined;
  readonly #runs = new WaitingRuns();
  readonly #counts = new QueueCounts();
  #ready: WaitingRun[] = [];
  readonly #waiters: Waiters;
  #appends = 0;
  #isScheduled = false;
  #isReplaying = false;
  #isStalled = false;
  #recovering: Promise<void> | undefined;
  #recovered: SpillRecovery | undefined;

  /** @throws CoxswainError "invalid-argument" for a limit out of range */
  constructor(sink: TrajectorySink, options: RecordQueueOptions = {}) {
    this.#sink = sink;
    this.#options = options;
    this.#limits = queueLimits(options);
    this.#timers = options.timers ?? systemTimers;
    this.#waiters = new Waiters(this.#timers);
    if (options.overflow !== 'spill') return;
    this.#spill = new Spill({
      folder: options.spillFolder,
      maxBytes: this.#limits.maxSpillBytes,
      onLost: (records, error) => {
        this.#counts.dropped += records;
        this.#counts.fault(error);
      },
    });
    if (options.spillFolder !== undefined) this.#recovering = this.#recover(options.spillFolder);
  }

  /** Queues a record of a run that has an id. Never throws, never waits. */
  add(record: TrajectoryRecord): EmitAnswer {
    const run = this.#runs.of(record);
    run.lastSeq = lastSeqOf(record);
    if (run.isRefused) return this.#counts.drop();
    const bytes = recordBytes(record);
    // Whether a run has ended is worth more than the limit, and there is one such record a run.
    const fits = record.payload.kind === 'run_ended' || this.#counts.fits(bytes, this.#limits);
    if (this.#spill?.isActive === true || !fits) return this.#overflow(run, record);
    this.#enqueue(run, record, bytes);
    return 'accepted';
  }

  /** Last `seq` of a run that the sink has acknowledged; -1 before the first, or long after the run's end. */
  durableSeq(runId: string): number {
    return this.#runs.find(runId)?.durableSeq ?? -1;
  }

  /**
   * Resolves when everything added before is written or counted as dropped, or after `timeLimitMs`; then the rest
   * goes on waiting. Does not wait for the pause before a retry.
   *
   * @throws CoxswainError "trajectory-io" or "trajectory-rejected" under the policy `throw` instead of answering `incomplete`; its cause is the last
   *   error of the sink
   */
  async flush(limit: TimeLimit = {}): Promise<FlushAnswer> {
    const endMs = this.#timers.nowMs() + (limit.timeLimitMs ?? this.#limits.flushTimeLimitMs);
    const left = (): number => Math.max(0, endMs - this.#timers.nowMs());
    let isDone = await this.#waiters.within(left(), this.#recovering);
    const runs = this.#runs.active;
    const isSettled = whenSettled(runs);
    for (const run of runs) this.#hurry(run);
    this.#pump();
    isDone = (await this.#waiters.until(isSettled, left())) && isDone;
    isDone = (await this.#waiters.within(left(), this.#flushSink())) && isDone;
    if (isDone && !this.#counts.hasNewDrops) return 'stored';
    const error = this.#counts.report(this.#spill?.health()?.records ?? 0);
    if (this.#options.onFailure === 'throw') throw error;
    return 'incomplete';
  }

  /**
   * Resolves to true when there is room; under the policy `wait` that may take until `timeLimitMs`, and then it is
   * false. While the sink stands still after that, further calls answer false at once. Never throws.
   */
  async ready(limit: TimeLimit = {}): Promise<boolean> {
    if (this.#hasRoom()) return true;
    if (this.#isStalled) return false;
    const waitMs = limit.timeLimitMs ?? this.#limits.readyTimeLimitMs;
    const isRoom = await this.#waiters.until(() => this.#hasRoom(), waitMs);
    this.#isStalled = !isRoom;
    return isRoom;
  }

  get isEmpty(): boolean {
    return !this.#runs.hasActive;
  }

  health(): RecorderHealth {
    const nowMs = this.#timers.nowMs();
    const failing = this.#runs.active.flatMap((run) => run.failingSinceMs ?? []);
    const spill = this.#spill?.health();
    return {
      ...this.#counts.health(),
      failingRuns: failing.length,
      failingForMs: Math.round(Math.max(0, ...failing.map((sinceMs) => nowMs - sinceMs))),
      ...present({ spill, recovered: this.#recovered }),
    };
  }

  /** Flushes, then counts what is left in memory as dropped. A spill file with records stays. @throws as `flush` */
  async close(limit: TimeLimit = {}): Promise<FlushAnswer> {
    try {
      return await this.flush(limit);
    } finally {
      for (const run of this.#runs.active) {
        run.stopResting?.();
        run.isRefused = true;
        this.#counts.lose(run.clear());
      }
      this.#runs.clear();
      await this.#spill?.leave();
    }
  }

  /** Only three quarters, so that what several hosts tell after they were let go still finds room. */
  #hasRoom(): boolean {
    return this.#options.overflow !== 'wait' || this.#counts.isBelow(0.75, this.#limits);
  }

  #overflow(run: WaitingRun, record: TrajectoryRecord): EmitAnswer {
    if (this.#spill?.offer(record) === true) {
      run.spilled = { from: run.spilled?.from ?? record.seq, through: lastSeqOf(record) };
      this.#runs.activate(run);
      this.#schedule();
      return 'accepted';
    }
    if (this.#spill === undefined) {
      run.pushGap(record, 'queue full');
      this.#makeReady(run);
    }
    return this.#counts.drop();
  }

  #enqueue(run: WaitingRun, record: TrajectoryRecord, bytes: number): void {
    if (isGap(record)) run.pushGap(record, 'lost');
    else {
      run.push(record, bytes);
      this.#counts.take(bytes);
    }
    this.#makeReady(run);
  }

  #makeReady(run: WaitingRun): void {
    this.#runs.activate(run);
    if (run.state === 'idle') run.state = 'ready';
    else if (run.state !== 'writing' || !run.mayFollow) return;
    if (run.isListed) return;
    run.isListed = true;
    this.#ready.push(run);
    this.#schedule();
  }

  /** After the host's own turn, so that an agent that waits for an answer does not wait for a disk. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#pump();
    });
  }

  #pump(): void {
    // What was left by an earlier process comes first.
    if (this.#recovering !== undefined) return;
    while (this.#appends < MAX_APPENDS) {
      const run = this.#ready.shift();
      if (run === undefined) break;
      run.isListed = false;
      if (run.state === 'ready' || run.mayFollow) void this.#write(run);
    }
    void this.#replay();
  }

  async #write(run: WaitingRun): Promise<void> {
    const batch = run.takeBatch();
    run.state = 'writing';
    this.#appends += 1;
    // So that this thread prepares one batch while the disk has the other.
    this.#makeReady(run);
    try {
      const seq = await this.#sink.append(batch.map((item) => item.record));
      run.durableSeq = Math.max(run.durableSeq, seq);
      this.#settle(run, batch);
    } catch (error) {
      run.refuseBatch(batch, error);
    }
    this.#appends -= 1;
    run.tries += 1;
    if (run.isFlying) this.#makeReady(run);
    else this.#land(run);
    this.#runs.settle(run);
    this.#waiters.wake();
    this.#pump();
  }

  /** Nothing of the run is at the sink any more. */
  #land(run: WaitingRun): void {
    const refused = run.takeRefused();
    if (refused !== undefined) {
      this.#counts.fault(refused.error);
      this.#refused(run, refused.batch, refused.error);
    }
    if (run.state !== 'writing') return;
    run.state = 'idle';
    // A gap alone that the sink did not take waits until the sink is back.
    if (!run.isEmpty && (run.failures === 0 || run.firstRecord < Infinity)) this.#makeReady(run);
  }

  #settle(run: WaitingRun, batch: readonly Waiting[]): void {
    this.#counts.write(run.settleBatch(batch), batch.at(-1)?.record.recorded_at_unix_ms ?? 0);
    this.#isStalled = false;
    const isBack = run.failures > 0;
    run.failures = 0;
    run.holesFilled = 0;
    run.failingSinceMs = undefined;
    if (isBack) for (const other of this.#runs.active) this.#hurry(other);
  }

  #refused(run: WaitingRun, batch: readonly Waiting[], error: unknown): void {
    const reason = faultText(error);
    switch (appendFault(error)) {
      case 'retry':
        this.#retry(run, reason);
        return;
      case 'over':
        run.failures += 1;
        this.#counts.lose(run.dropAll(reason));
        return;
      case 'hole':
        if (!fillHole(run, error)) this.#refuse(run);
        return;
      case 'spoiled':
        if (isGapOnly(batch)) this.#refuse(run);
        else if (batch.length === 1) this.#counts.lose(run.dropBatch(reason));
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
    if (nowMs - run.failingSinceMs >= this.#limits.retryForMs) this.#counts.lose(run.dropAll(reason));
    if (run.firstRecord === Infinity) {
      run.failingSinceMs = undefined;
      return;
    }
    this.#counts.retries += 1;
    run.state = 'resting';
    const delayMs = retryDelayMs(run.failures, (this.#options.random ?? Math.random)());
    run.stopResting = this.#timers.after(delayMs, () => this.#hurry(run), 'let-go');
  }

  /** Tries again without waiting for the end of the pause. */
  #hurry(run: WaitingRun): void {
    if (run.state === 'resting') {
      run.stopResting?.();
      run.state = 'idle';
    }
    if (!run.isEmpty && run.state === 'idle') this.#makeReady(run);
  }

  #refuse(run: WaitingRun): void {
    run.isRefused = true;
    this.#counts.refusedRuns += 1;
    this.#counts.lose(run.clear());
  }

  /** Brings spilled records back while half of the room is free. */
  async #replay(): Promise<void> {
    const spill = this.#spill;
    if (spill === undefined || this.#isReplaying) return;
    this.#isReplaying = true;
    while (spill.isActive && this.#counts.isBelow(0.5, this.#limits)) {
      await spill.next(({ records, lost, isLast }) => {
        this.#counts.dropped += lost;
        for (const record of records) this.#takeBack(record);
        if (!isLast) return;
        for (const run of this.#runs.active) {
          run.spilled = undefined;
          this.#runs.settle(run);
        }
      });
    }
    this.#isReplaying = false;
    this.#waiters.wake();
  }

  #takeBack(record: TrajectoryRecord): void {
    const run = this.#runs.of(record);
    const nextSeq = lastSeqOf(record) + 1;
    if (run.spilled !== undefined && nextSeq > run.spilled.through) run.spilled = undefined;
    else if (run.spilled !== undefined) run.spilled = { from: nextSeq, through: run.spilled.through };
    if (!run.isRefused) this.#enqueue(run, record, recordBytes(record));
    else if (!isGap(record)) this.#counts.dropped += 1;
  }

  async #recover(folder: string): Promise<void> {
    try {
      this.#recovered = await recoverSpills(folder, this.#sink);
    } catch (error) {
      this.#counts.fault(error);
    }
    this.#recovering = undefined;
    this.#pump();
  }

  async #flushSink(): Promise<boolean> {
    try {
      await this.#sink.flush();
      return true;
    } catch (error) {
      this.#counts.fault(error);
      return false;
    }
  }
}
