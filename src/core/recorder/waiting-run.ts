import { type TrajectoryRecord, TRAJECTORY_SCHEMA_VERSION } from '../records/trajectory-record.ts';
import { MAX_BATCH_RECORDS } from '../store/trajectory-store.ts';
import { lastSeqOf } from '../facts/run-summary.ts';
import { present } from '../base/json.ts';
import type { Timers } from './record-queue-options.ts';
import { LruMap } from '../base/lru-map.ts';
import { expectedSeqOf } from './append-fault.ts';

interface Waiter {
  readonly isDone: () => boolean;
  readonly finish: (isDone: boolean) => void;
}

/** Calls that wait for a condition with a time limit. They keep the process alive. */
export class Waiters {
  readonly #timers: Timers;
  readonly #waiting = new Set<Waiter>();

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** `isDone` is called now and at each `wake`. Resolves to false after `timeLimitMs`. */
  waitUntil(isDone: () => boolean, timeLimitMs: number): Promise<boolean> {
    if (isDone()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const waiter: Waiter = {
        isDone,
        finish: (done) => {
          cancel();
          this.#waiting.delete(waiter);
          resolve(done);
        },
      };
      const cancel = this.#timers.after(timeLimitMs, () => waiter.finish(false), 'hold');
      this.#waiting.add(waiter);
    });
  }

  /** `work` must not reject. Resolves to false after `timeLimitMs`. */
  waitFor(timeLimitMs: number, work: Promise<boolean>): Promise<boolean> {
    return new Promise((resolve) => {
      const cancel = this.#timers.after(timeLimitMs, () => resolve(false), 'hold');
      const settle = async (): Promise<void> => {
        const result = await work;
        cancel();
        resolve(result);
      };
      void settle();
    });
  }

  wake(): void {
    for (const waiter of this.#waiting) if (waiter.isDone()) waiter.finish(true);
  }
}

/** Approximate maximum size of an append. A larger record is appended alone. */
const MAX_BATCH_BYTES = 4 * 1024 * 1024;

/** A waiting record. A gap has size 0 and is not counted, because it replaces counted records. */
export interface WaitingRecord {
  readonly record: TrajectoryRecord;
  readonly bytes: number;
}

export interface Load {
  readonly records: number;
  readonly bytes: number;
}

/** `idle`: nothing to write but a gap that waits for the sink; `resting`: a pause after a refused batch. */
type WaitingState = 'idle' | 'ready' | 'writing' | 'resting';

export class WaitingRun {
  readonly runId: string;
  state: WaitingState = 'idle';
  durableSeq = -1;
  lastSeq = -1;
  lostRecords = 0;
  attempts = 0;
  failures = 0;
  failingSinceMs: number | undefined;
  stopResting: (() => void) | undefined;
  /** True if no more records are written, because the sink has other records with this id or the queue is closed. */
  isRefused = false;
  holesFilled = 0;
  #items: WaitingRecord[] = [];
  #batch: readonly WaitingRecord[] | undefined;
  #batchLimit = MAX_BATCH_RECORDS;

  constructor(runId: string) {
    this.runId = runId;
  }

  push(record: TrajectoryRecord, bytes: number): void {
    this.#items.push({ record, bytes });
  }

  pushGap(record: TrajectoryRecord, reason: string): void {
    const widenedGap = widenGap(this.#items.at(-1)?.record, record);
    if (widenedGap !== undefined) this.#items.pop();
    this.#items.push({ record: widenedGap ?? (isGap(record) ? record : gapFor(record, reason)), bytes: 0 });
  }

  get isEmpty(): boolean {
    return this.#batch === undefined && this.#items.length === 0;
  }

  /** The first `seq` in memory, including gaps. Infinity if no record waits in memory. */
  get firstWaitingSeq(): number {
    return (this.#batch?.[0] ?? this.#items[0])?.record.seq ?? Infinity;
  }

  /** The range in memory, including gaps. The store will not contain it if the process ends. */
  get unsavedRange(): { readonly from: number; readonly through: number } | undefined {
    const last = this.#items.at(-1) ?? this.#batch?.at(-1);
    return last === undefined ? undefined : { from: this.firstWaitingSeq, through: lastSeqOf(last.record) };
  }

  get gapRecords(): number {
    const gaps = [...(this.#batch ?? []), ...this.#items].flatMap(({ record }) => (isGap(record) ? [record] : []));
    return gaps.reduce((sum, gap) => sum + lastSeqOf(gap) - gap.seq + 1, 0);
  }

  get firstRecordSeq(): number {
    return firstRecordSeqOf(this.#batch ?? []) ?? firstRecordSeqOf(this.#items) ?? Infinity;
  }

  /** After a failure, returns the same batch again, so that the sink can recognise a repeat. */
  takeBatch(): readonly WaitingRecord[] {
    this.#batch ??= this.#nextBatch();
    return this.#batch;
  }

  settleBatch(): Load {
    const load = loadOf(this.#batch ?? []);
    this.#batch = undefined;
    this.#batchLimit = Math.min(MAX_BATCH_RECORDS, this.#batchLimit * 2);
    return load;
  }

  /** Halves the next batches, to find the record of this batch that the sink refuses. */
  halveBatch(): void {
    this.#batchLimit = Math.max(1, Math.ceil(loadOf(this.#batch ?? []).records / 2));
    this.#items = this.#takeAll();
  }

  /** Keeps a refused gap until a record follows it. */
  holdBatch(): void {
    this.failures += 1;
    this.#items = this.#takeAll();
  }

  prependGap(expectedSeq: number, reason: string): boolean {
    const first = this.#batch?.[0]?.record;
    if (first === undefined || expectedSeq >= first.seq) return false;
    const gap = gapFor(first, reason, { fromSeq: expectedSeq, throughSeq: first.seq - 1 });
    this.#items = [{ record: gap, bytes: 0 }, ...this.#takeAll()];
    return true;
  }

  dropBatch(reason: string): Load {
    const batch = this.#batch ?? [];
    this.#batch = undefined;
    return this.#drop(reason, batch, this.#takeAll());
  }

  dropAll(reason: string): Load {
    return this.#drop(reason, this.#takeAll(), []);
  }

  /** Discards everything that waits or is at the sink, and accepts no more. Returns the lost load. */
  refuse(): Load {
    this.stopResting?.();
    this.isRefused = true;
    return loadOf(this.#takeAll());
  }

  #takeAll(): WaitingRecord[] {
    const allItems = [...(this.#batch ?? []), ...this.#items];
    this.#batch = undefined;
    this.#items = [];
    return allItems;
  }

  #drop(reason: string, lost: readonly WaitingRecord[], laterItems: readonly WaitingRecord[]): Load {
    for (const { record } of lost) this.pushGap(record, reason);
    for (const item of laterItems) {
      if (isGap(item.record)) this.pushGap(item.record, reason);
      else this.#items.push(item);
    }
    return loadOf(lost);
  }

  #nextBatch(): readonly WaitingRecord[] {
    let count = 0;
    let records = 0;
    let bytes = 0;
    for (const item of this.#items) {
      const isRecord = !isGap(item.record);
      if ((isRecord && records === this.#batchLimit) || (count > 0 && bytes + item.bytes > MAX_BATCH_BYTES)) break;
      bytes += item.bytes;
      count += 1;
      if (isRecord) records += 1;
    }
    return this.#items.splice(0, count);
  }
}

export function loadOf(items: readonly WaitingRecord[]): Load {
  const records = items.filter((item) => !isGap(item.record));
  return { records: records.length, bytes: records.reduce((sum, { bytes }) => sum + bytes, 0) };
}

export function isGapOnly(batch: readonly WaitingRecord[]): boolean {
  return batch.every((item) => isGap(item.record));
}

function firstRecordSeqOf(items: readonly WaitingRecord[]): number | undefined {
  return items.find((item) => !isGap(item.record))?.record.seq;
}

function isGap(record: TrajectoryRecord): boolean {
  return record.payload.kind === 'gap';
}

function gapFor(
  record: TrajectoryRecord,
  reason: string,
  range: { readonly fromSeq?: number; readonly throughSeq?: number } = {},
): TrajectoryRecord {
  return {
    schema_version: TRAJECTORY_SCHEMA_VERSION,
    seq: range.fromSeq ?? record.seq,
    ...present({ run_id: record.run_id, parent_run_id: record.parent_run_id }),
    depth: record.depth,
    // The record may have been refused for an invalid time.
    recorded_at_unix_ms: record.recorded_at_unix_ms >= 0 ? record.recorded_at_unix_ms : 0,
    payload: { kind: 'gap', through_seq: range.throughSeq ?? lastSeqOf(record), reason },
  };
}

function widenGap(gap: TrajectoryRecord | undefined, record: TrajectoryRecord): TrajectoryRecord | undefined {
  if (gap?.payload.kind !== 'gap' || lastSeqOf(gap) !== record.seq - 1) return undefined;
  return { ...gap, payload: { ...gap.payload, through_seq: lastSeqOf(record) } };
}

const MAX_IDLE_RUNS = 10_000;

export class WaitingRuns {
  readonly #active = new Map<string, WaitingRun>();
  readonly #idle = new LruMap<WaitingRun>(MAX_IDLE_RUNS);

  get active(): readonly WaitingRun[] {
    return [...this.#active.values()];
  }

  get hasActive(): boolean {
    return this.#active.size > 0;
  }

  failingCounts(nowMs: number): { readonly failingRuns: number; readonly failingForMs: number } {
    const failingSince = this.active.flatMap(({ failingSinceMs }) => failingSinceMs ?? []);
    const longestMs = Math.max(0, ...failingSince.map((sinceMs) => nowMs - sinceMs));
    return { failingRuns: failingSince.length, failingForMs: Math.round(longestMs) };
  }

  find(runId: string): WaitingRun | undefined {
    return this.#active.get(runId) ?? this.#idle.get(runId);
  }

  getOrCreate(record: TrajectoryRecord): WaitingRun {
    const runId = record.run_id ?? '';
    const existing = this.find(runId);
    if (existing !== undefined) return existing;
    const run = new WaitingRun(runId);
    this.#idle.set(runId, run);
    return run;
  }

  activate(run: WaitingRun): void {
    this.#active.set(run.runId, run);
  }

  settle(run: WaitingRun): void {
    if (!run.isEmpty) return;
    this.#active.delete(run.runId);
    this.#idle.set(run.runId, run);
  }

  clear(): void {
    this.#active.clear();
  }
}

/** Everything that waits now is stored or lost. For a gap that the sink refuses, one attempt is enough. */
export function createSettledCheck(runs: readonly WaitingRun[]): () => boolean {
  const targets = runs.map((run) => ({ run, through: run.lastSeq, tries: run.attempts }));
  return () =>
    targets.every(({ run, through, tries }) => {
      if (run.firstRecordSeq <= through) return false;
      const isTried = run.attempts > tries && (run.state === 'idle' || run.state === 'resting');
      return run.firstWaitingSeq > through || isTried;
    });
}

export function fillHole(run: WaitingRun, error: unknown): boolean {
  const expected = expectedSeqOf(error);
  run.holesFilled += 1;
  return expected !== undefined && run.holesFilled <= 3 && run.prependGap(expected, 'not in the store');
}

interface UnsavedQueue {
  logUnsaved(): void;
}

const unsavedQueues = new Set<UnsavedQueue>();
let isListening = false;

export function watchUnsaved(queue: UnsavedQueue): void {
  unsavedQueues.add(queue);
  if (isListening) return;
  isListening = true;
  process.on('exit', logAllUnsaved);
}

export function forgetUnsaved(queue: UnsavedQueue): void {
  unsavedQueues.delete(queue);
}

export function logAllUnsaved(): void {
  for (const queue of unsavedQueues) queue.logUnsaved();
  unsavedQueues.clear();
}
