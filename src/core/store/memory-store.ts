import { Buffer } from 'node:buffer';

import { parseRecord } from '../records/decode-record.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import { checkBatch, checkRunId, type CheckedBatch, type EncodedRecord, checkChange } from './check-batch.ts';
import { checkReadQuery } from './page-cursor.ts';
import { planAppend } from './plan-append.ts';
import { checkRunQuery, pageOfAllRuns } from './run-page.ts';
import type { RunSummary } from '../facts/run-summary.ts';
import { createRunCheck } from './run-check.ts';
import { createStoredRun, type SavedSnapshot } from './stored-run.ts';
import { checkSearchQuery, toSearchPage, createSearchScan } from './search-page.ts';
import { storeClosed } from './store-error.ts';
import type {
  ReadQuery,
  RunChange,
  RunPage,
  RunQuery,
  StoredRun,
  SearchPage,
  SearchQuery,
  StoreProblem,
  TrajectoryStore,
} from './trajectory-store.ts';

/**
 * A store in memory. It keeps each record as JSON text, so that callers cannot modify it and a read returns what other drivers
 * would return.
 *
 * Cost: an append is O(batch); `listRuns` sorts the runs; `readRun` finds `fromSeq` by binary search; `deleteRun` is immediate;
 * `sizeOf` (UTF-8 bytes of records and snapshots as JSON) visits each run; `search` reads every record that time, run and kind do
 * not exclude.
 */
export function memoryStore(): TrajectoryStore {
  return new MemoryStore();
}

interface MemoryRun {
  readonly seqs: number[];
  readonly lines: string[];
  bytes: number;
  summary: RunSummary;
}

class MemoryStore implements TrajectoryStore {
  readonly #runs = new Map<string, MemoryRun>();
  readonly #snapshots = new Map<string, SavedSnapshot>();
  #isClosed = false;

  async append(batch: readonly TrajectoryRecord[]): Promise<number> {
    this.#requireOpen();
    return this.#write(checkBatch(batch));
  }

  #write(batch: CheckedBatch): number {
    const run = this.#runs.get(batch.runId);
    const plan = planAppend(batch, run?.summary, (seq) => run?.lines[indexOfSeq(run.seqs, seq, 'exact')]);
    const targetRun = run ?? { seqs: [], lines: [], bytes: 0, summary: plan.summary };
    this.#runs.set(batch.runId, targetRun);
    appendLines(targetRun, plan.fresh);
    targetRun.summary = plan.summary;
    return plan.summary.lastSeq;
  }

  async flush(): Promise<void> {
    this.#requireOpen();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#runs.clear();
    this.#snapshots.clear();
  }

  async listRuns(query?: RunQuery): Promise<RunPage> {
    this.#requireOpen();
    const checkedQuery = checkRunQuery(query);
    const page = pageOfAllRuns(
      Array.from(this.#runs.values(), (run) => run.summary),
      checkedQuery,
    );
    return checkedQuery.withBytes ? { ...page, bytes: page.runs.map(({ runId }) => this.#bytesOf(runId)) } : page;
  }

  async findRun(runId: string): Promise<RunSummary | undefined> {
    this.#requireOpen();
    return this.#runs.get(runId)?.summary;
  }

  async *readRun(runId: string, query?: ReadQuery): AsyncGenerator<TrajectoryRecord, void, void> {
    const { fromSeq, limit } = checkReadQuery(query);
    this.#requireOpen();
    const run = this.#runs.get(runId);
    if (run === undefined) return;
    const firstIndex = indexOfSeq(run.seqs, fromSeq, 'from');
    for (let index = firstIndex; index - firstIndex < limit; index += 1) {
      this.#requireOpen();
      const line = run.lines[index];
      if (line === undefined) return;
      yield parseRecord(line);
    }
  }

  async transact<Result>(runId: string, fold: (view: StoredRun) => RunChange<Result>): Promise<Result> {
    this.#requireOpen();
    checkRunId(runId);
    const run = this.#runs.get(runId);
    const state = { summary: run?.summary, snapshot: this.#snapshots.get(runId) };
    const view = createStoredRun(state, (seq) =>
      (run?.lines.slice(indexOfSeq(run.seqs, seq + 1, 'from')) ?? []).map((line) => parseRecord(line)),
    );
    const { batch, snapshotJson, result } = checkChange(runId, fold(view));
    this.#requireOpen();
    if (batch !== undefined) this.#write(batch);
    if (snapshotJson !== undefined) {
      const coversSeq = this.#runs.get(runId)?.summary.lastSeq ?? -1;
      this.#snapshots.set(runId, { coversSeq, json: snapshotJson });
    }
    return result;
  }

  async deleteRun(runId: string): Promise<boolean> {
    this.#requireOpen();
    const hadRecords = this.#runs.delete(runId);
    return this.#snapshots.delete(runId) || hadRecords;
  }

  async sizeOf(): Promise<number> {
    this.#requireOpen();
    const runIds = new Set([...this.#runs.keys(), ...this.#snapshots.keys()]);
    let bytes = 0;
    for (const runId of runIds) bytes += this.#bytesOf(runId);
    return bytes;
  }

  async search(query: SearchQuery): Promise<SearchPage> {
    this.#requireOpen();
    const checkedQuery = checkSearchQuery(query);
    const scan = createSearchScan(checkedQuery);
    for (const run of this.#runs.values()) for (const line of run.lines) scan.offer(parseRecord(line));
    return toSearchPage(scan.hits, checkedQuery.limit);
  }

  async *verify(): AsyncGenerator<StoreProblem, void, void> {
    this.#requireOpen();
    for (const { lines, summary } of this.#runs.values()) {
      const check = createRunCheck(summary.runId);
      for (const [index, line] of lines.entries()) yield* check.checkRecord(parseRecord(line), `record ${index}`);
      yield* check.checkSummary(summary, 'summary');
    }
  }

  #bytesOf(runId: string): number {
    const snapshot = this.#snapshots.get(runId);
    return (this.#runs.get(runId)?.bytes ?? 0) + (snapshot === undefined ? 0 : Buffer.byteLength(snapshot.json));
  }

  #requireOpen(): void {
    if (this.#isClosed) throw storeClosed();
  }
}

function appendLines(run: MemoryRun, fresh: readonly EncodedRecord[]): void {
  for (const { record, json } of fresh) {
    run.seqs.push(record.seq);
    run.lines.push(json);
    run.bytes += Buffer.byteLength(json);
  }
}

/** -1 if missing. The list has gaps because gap records cover several `seq`s. */
function indexOfSeq(seqs: readonly number[], seq: number, match: 'exact' | 'from'): number {
  let low = 0;
  let high = seqs.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((seqs[middle] ?? 0) < seq) low = middle + 1;
    else high = middle;
  }
  return match === 'from' || seqs[low] === seq ? low : -1;
}
