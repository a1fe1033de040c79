import { backoffMs, systemClock } from '../base/clock.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import { lastSeqOf } from '../facts/run-summary.ts';
import type { TrajectorySink } from '../store/trajectory-store.ts';
import { appendFault, faultText } from './append-fault.ts';
import {
  queueLimits,
  type QueueLimits,
  type RecordQueueOptions,
  type EmitAnswer,
  type FlushAnswer,
  type TimeLimit,
  type RecorderHealth,
  systemTimers,
  type Timers,
} from './record-queue-options.ts';
import {
  forgetUnsaved,
  watchUnsaved,
  Waiters,
  isGapOnly,
  loadOf,
  type WaitingRecord,
  type WaitingRun,
  type Load,
  fillHole,
  WaitingRuns,
  createSettledCheck,
} from './waiting-run.ts';
import { logFault, type HookFault } from '../node/fault-log.ts';
import { countOf, durationText } from '../base/number-text.ts';
import { projectFolderOf } from '../node/git-folder.ts';
import { present } from '../base/json.ts';
import { CoxswainError } from '../base/error.ts';

/** Estimated memory of a record without its payload: the other fields and the entry in the queue. */
const ENVELOPE_BYTES = 200;

/** One byte per character, eight per number. Encoding every record a second time would double the cost of recording. */
function bytesOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 8;
  let bytes = 16;
  if (Array.isArray(value)) {
    for (const item of value) bytes += bytesOf(item);
    return bytes;
  }
  for (const key in value) {
    // A record is plain JSON.
    bytes += key.length + 4 + bytesOf((value as Readonly<Record<string, unknown>>)[key]);
  }
  return bytes;
}

class QueueCounts {
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

function isRejection(fault: unknown): boolean {
  const kind = appendFault(fault);
  return kind === 'refused' || kind === 'spoiled';
}

/** Minimum time between two entries about similar losses, unless their number has grown tenfold. */
const PAUSE_MS = 60_000;
/** A store that fails for this long is logged, because a killed process could not log what it lost. */
const FAILING_MS = 10_000;
const MAX_RUNS = 100;

/** Writes the losses of a queue to the log that `coxswain doctor` reads, so that they are known after the process has ended. */
class LossLog {
  #loggedCount = 0;
  #nextAtMs = -Infinity;
  #isFailing = false;

  logDropped({ dropped, lastFault }: Pick<QueueCounts, 'dropped' | 'lastFault'>, nowMs: number, isEnd = false): void {
    const newLosses = dropped - this.#loggedCount;
    if (newLosses <= 0 || (!isEnd && nowMs < this.#nextAtMs && dropped < this.#loggedCount * 10)) return;
    const total = this.#loggedCount === 0 ? '' : ` (${countOf(dropped, 'record')} in all by this process)`;
    this.#loggedCount = dropped;
    this.#nextAtMs = nowMs + PAUSE_MS;
    log({ message: `${countOf(newLosses, 'record')} lost${total}: ${causeText(lastFault)}` });
  }

  isComplete({ dropped }: QueueCounts): boolean {
    return dropped === this.#loggedCount;
  }

  logFailing({ queued, lastFault }: QueueCounts, forMs: number): void {
    if (this.#isFailing || forMs < FAILING_MS) return;
    this.#isFailing = true;
    const waitingText = `${countOf(queued, 'record')} ${queued === 1 ? 'waits' : 'wait'} in memory`;
    log({ message: `the store has failed for ${durationText(forMs)}, ${waitingText}: ${causeText(lastFault)}` });
  }

  clearFailing(): void {
    this.#isFailing = false;
  }

  /** Logs every loss when the process ends: the records of each run that will never be in the store, then all others. */
  logEnd(runs: readonly WaitingRun[], { dropped, lastFault }: QueueCounts, nowMs: number): void {
    this.#logUnsaved(runs, lastFault);
    const loggedGaps = runs.reduce((sum, run) => sum + run.gapRecords, 0);
    this.logDropped({ dropped: dropped - loggedGaps, lastFault }, nowMs, true);
    this.#loggedCount = dropped;
  }

  #logUnsaved(runs: readonly WaitingRun[], lastFault: QueueCounts['lastFault']): void {
    const losses = runs.flatMap(({ runId, unsavedRange: range }) =>
      range === undefined ? [] : [{ runId, from: range.from, lost: range.through - range.from + 1 }],
    );
    for (const { runId, from, lost } of losses.slice(0, MAX_RUNS)) {
      const message = `${countOf(lost, 'record')} lost from seq ${from}, because the process ended before the store had them`;
      log({
        message: lastFault === undefined ? message : `${message}: ${faultText(lastFault)}`,
        sessionId: runId,
        lost,
      });
    }
    const otherLosses = losses.slice(MAX_RUNS);
    const lostCount = otherLosses.reduce((sum, { lost }) => sum + lost, 0);
    if (lostCount === 0) return;
    const message = `${countOf(lostCount, 'record')} lost in ${countOf(otherLosses.length, 'more run')}`;
    log({ message, lost: lostCount });
  }
}

function causeText(fault: unknown): string {
  return fault === undefined ? 'the queue was full' : faultText(fault);
}

function log(fault: Omit<HookFault, 'where'>): void {
  const { env } = process;
  let projectFolder: string | undefined;
  try {
    projectFolder = projectFolderOf(process.cwd(), env['CLAUDE_PROJECT_DIR']);
  } catch {
    // The working folder was deleted. The fault goes to the user's log.
  }
  logFault({ where: 'recorder', ...fault }, { env, projectFolder, nowMs: systemClock.nowMs() });
}

const RETRY_DELAYS = { firstMs: 50, longestMs: 5_000 };
/** Maximum number of concurrent appends of different runs. It is large enough for a sink that commits groups. */
const MAX_APPENDS = 8;

/** Batches, in order within each run; `add` never waits. A failing sink is retried; a gap record replaces lost records. */
export class RecordQueue {
  readonly #sink: TrajectorySink;
  readonly #options: RecordQueueOptions;
  readonly #limits: QueueLimits;
  readonly #timers: Timers;
  readonly #runs = new WaitingRuns();
  readonly #counts = new QueueCounts();
  readonly #lossLog = new LossLog();
  #isClosing = false;
  #ready: WaitingRun[] = [];
  readonly #waiters: Waiters;
  #appendCount = 0;
  #isScheduled = false;
  #isStalled = false;
  /** True after a flush that ran out of its default time, until the sink stores a record. */
  #isTooSlow = false;

  /** @throws CoxswainError "invalid-argument" for a limit out of range */
  constructor(sink: TrajectorySink, options: RecordQueueOptions = {}) {
    this.#sink = sink;
    this.#options = options;
    this.#limits = queueLimits(options);
    this.#timers = options.timers ?? systemTimers;
    this.#waiters = new Waiters(this.#timers);
  }

  add(record: TrajectoryRecord): EmitAnswer {
    const run = this.#runs.getOrCreate(record);
    run.lastSeq = lastSeqOf(record);
    if (run.isRefused) return this.#drop(run);
    const bytes = ENVELOPE_BYTES + bytesOf(record.payload);
    // The record of a run's end is accepted beyond the limit, because there is one per run.
    const fits = record.payload.kind === 'run_ended' || this.#counts.fits(bytes, this.#limits);
    if (!fits) {
      run.pushGap(record, 'queue full');
      this.#makeReady(run);
      return this.#drop(run);
    }
    run.push(record, bytes);
    this.#counts.countQueued(bytes);
    this.#makeReady(run);
    return 'accepted';
  }

  /** -1 before the first, or if the run was forgotten. */
  durableSeq(runId: string): number {
    return this.#runs.find(runId)?.durableSeq ?? -1;
  }

  lostRecords(runId: string): number {
    return this.#runs.find(runId)?.lostRecords ?? 0;
  }

  /**
   * Everything added before is written or counted as dropped, or `timeLimitMs` is over; the rest keeps waiting. Retries
   * at once. After a flush that ran out of time, the default is a fifth, so that `end` and `close` do not both wait for a
   * dead sink.
   *
   * @throws CoxswainError "trajectory-io" or "trajectory-rejected" under the policy `throw`, instead of returning
   * `incomplete`
   */
  async flush(limit: TimeLimit = {}): Promise<FlushAnswer> {
    const defaultMs = this.#limits.flushTimeLimitMs / (this.#isTooSlow ? 5 : 1);
    const endMs = this.#timers.nowMs() + (limit.timeLimitMs ?? defaultMs);
    const remainingMs = (): number => Math.max(0, endMs - this.#timers.nowMs());
    const runs = this.#runs.active;
    const isSettled = createSettledCheck(runs);
    for (const run of runs) this.#retryNow(run);
    this.#pump();
    let isDone = await this.#waiters.waitUntil(isSettled, remainingMs());
    isDone = (await this.#waiters.waitFor(remainingMs(), this.#flushSink())) && isDone;
    if (!isDone && limit.timeLimitMs === undefined) this.#isTooSlow = true;
    if (isDone && !this.#counts.hasNewDrops) return 'stored';
    const error = this.#counts.createFlushError();
    if (this.#options.onFailure === 'throw') throw error;
    return 'incomplete';
  }

  /** Under `wait`, false after `timeLimitMs`, and then at once until the sink stores again. Never throws. */
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

  /** Flushes, then counts the records left in memory as dropped. Throws as `flush`. */
  async close(limit: TimeLimit = {}): Promise<FlushAnswer> {
    this.#isClosing = true;
    try {
      return await this.flush(limit);
    } finally {
      this.logUnsaved();
      forgetUnsaved(this);
      for (const run of this.#runs.active) this.#countLost(run, run.refuse());
      this.#runs.clear();
      this.#ready = [];
    }
  }

  logUnsaved(): void {
    this.#lossLog.logEnd(this.#runs.active, this.#counts, this.#timers.nowMs());
  }

  /** The limit is three quarters, so that several hosts that were waiting still find room. */
  #hasRoom(): boolean {
    return this.#options.overflow !== 'wait' || this.#counts.isBelow(0.75, this.#limits);
  }

  /** The loss is logged after the host's turn of the event loop. */
  #drop(run: WaitingRun): EmitAnswer {
    run.lostRecords += 1;
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
    this.#isTooSlow = false;
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
        this.#countLost(run, run.dropAll(reason));
        return;
      case 'hole':
        if (!fillHole(run, error)) this.#refuse(run);
        return;
      case 'spoiled':
        // The gap goes with the next record.
        if (isGapOnly(batch)) run.holdBatch();
        else if (loadOf(batch).records === 1) this.#countLost(run, run.dropBatch(reason));
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
    if (nowMs - run.failingSinceMs >= this.#limits.retryForMs) this.#countLost(run, run.dropAll(reason));
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

  #countLost(run: WaitingRun, load: Load): void {
    run.lostRecords += load.records;
    this.#counts.countLost(load);
  }

  #refuse(run: WaitingRun): void {
    this.#counts.refusedRuns += 1;
    this.#countLost(run, run.refuse());
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
