import { resolve } from 'node:path';
import { CoxswainError } from '../base/error.ts';
import { parseRecord } from '../records/decode-record.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import { checkBatch } from '../store/check-batch.ts';
import { checkChange } from '../store/check-change.ts';
import type { RunSummary } from '../store/run-summary.ts';
import { storeClosed } from '../store/store-error.ts';
import { createStoredRun } from '../store/stored-run.ts';
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
} from '../store/trajectory-store.ts';
import { WorkerLink } from './worker-link.ts';
import { fromWorkerError, type WorkerPage, type WorkerStoreTarget, type WorkerView } from './worker-protocol.ts';

export type { WorkerStoreTarget } from './worker-protocol.ts';

export interface WorkerStoreOptions {
  /**
   * The thread's program, for applications that are bundled into one file. It is a separately bundled copy of the package's
   * `dist/recorder/store-worker.js`. Default: the package's own file.
   */
  readonly entry?: URL;
}

/** Maximum number of attempts of a transaction while other writers of the run are faster. */
const MAX_TRIES = 200;

/**
 * A SQLite store that writes in a worker thread, so that a long-lived process never waits for a sync:
 * `workerStore({ path: '.coxswain/runs.db' })`.
 *
 * It behaves as `sqliteStore` documents, except: it opens on first use and throws opening errors there; options and queries are
 * plain data; `transact` folds in the calling thread and is repeated if another writer changed the run meanwhile. If the thread
 * stops, pending calls throw `store-io` and the next call restarts it, up to five times a minute.
 *
 * The thread keeps the process alive only while a call is pending. Starting it with the first append took 72 ms on two busy cores.
 */
export function workerStore(target: WorkerStoreTarget, options: WorkerStoreOptions = {}): TrajectoryStore {
  return new WorkerStore(new WorkerLink({ ...target, path: resolve(target.path) }, options.entry));
}

/** Thrown into a fold that needs records that were not read with the view. */
class RecordsNotRead extends Error {}

class WorkerStore implements TrajectoryStore {
  readonly #worker: WorkerLink;
  #nextCursor = 0;
  #closing: Promise<void> | undefined;

  constructor(worker: WorkerLink) {
    this.#worker = worker;
  }

  async append(batch: readonly TrajectoryRecord[]): Promise<number> {
    const worker = this.#open();
    const checkedBatch = checkBatch(batch);
    return await worker.call('append', {
      ...checkedBatch,
      records: checkedBatch.records.map(({ seq, json }) => ({ seq, json })),
    });
  }

  async flush(): Promise<void> {
    await this.#open().call('flush');
  }

  close(): Promise<void> {
    this.#closing ??= this.#worker.end();
    return this.#closing;
  }

  async listRuns(query?: RunQuery): Promise<RunPage> {
    return await this.#open().call('listRuns', query);
  }

  async findRun(runId: string): Promise<RunSummary | undefined> {
    return await this.#open().call('findRun', runId);
  }

  async deleteRun(runId: string): Promise<boolean> {
    return await this.#open().call('deleteRun', runId);
  }

  async sizeOf(): Promise<number> {
    return await this.#open().call('sizeOf');
  }

  async search(query: SearchQuery): Promise<SearchPage> {
    return await this.#open().call('search', query);
  }

  readRun(runId: string, query?: ReadQuery): AsyncGenerator<TrajectoryRecord, void, void> {
    return this.#readPages((cursor) => this.#open().call('read', cursor, runId, query), parseRecord);
  }

  verify(): AsyncGenerator<StoreProblem, void, void> {
    return this.#readPages(
      (cursor) => this.#open().call('verify', cursor),
      // The thread encoded a StoreProblem.
      (line) => JSON.parse(line) as StoreProblem,
    );
  }

  async transact<Result>(runId: string, fold: (view: StoredRun) => RunChange<Result>): Promise<Result> {
    let withMissed = false;
    for (let attempts = 0; attempts < MAX_TRIES; attempts += 1) {
      const view = await this.#open().call('view', runId, withMissed);
      const change = foldView(view, fold);
      if (change === undefined) {
        withMissed = true;
        continue;
      }
      const { batch, snapshotJson: snapshot, result } = checkChange(runId, change);
      if (batch === undefined && snapshot === undefined) return result;
      const lines = batch?.records.map(({ json }) => json) ?? [];
      if (await this.#open().call('commit', runId, view.token, { lines, snapshot })) return result;
    }
    throw new CoxswainError(
      'store-io',
      `run ${JSON.stringify(runId)} was changed by others at each of ${MAX_TRIES} tries`,
    );
  }

  async *#readPages<T>(
    nextPage: (cursor: number) => Promise<WorkerPage>,
    decode: (line: string) => T,
  ): AsyncGenerator<T, void, void> {
    const cursor = (this.#nextCursor += 1);
    let isLast = false;
    try {
      while (!isLast) {
        const page = await nextPage(cursor);
        isLast = page.isLast;
        for (const line of page.lines) {
          this.#open();
          yield decode(line);
        }
        if (page.error !== undefined) throw fromWorkerError(page.error);
      }
    } finally {
      if (!isLast && this.#closing === undefined) await this.#worker.call('closeCursor', cursor);
    }
  }

  /** @throws CoxswainError `store-closed` */
  #open(): WorkerLink {
    if (this.#closing !== undefined) throw storeClosed();
    return this.#worker;
  }
}

/** @returns undefined if the fold needs records that were not read */
function foldView<Result>(
  view: WorkerView,
  fold: (view: StoredRun) => RunChange<Result>,
): RunChange<Result> | undefined {
  const { summary, nextSeq, snapshotSeq, missed } = view;
  const snapshot = view.snapshot === undefined ? undefined : { coversSeq: snapshotSeq, json: view.snapshot };
  const readMissed = (): readonly TrajectoryRecord[] => {
    if (nextSeq === snapshotSeq + 1) return [];
    if (missed === undefined)
      throw new RecordsNotRead(
        'the records that the snapshot does not cover are read before the next call of the fold',
      );
    return missed.map(parseRecord);
  };
  try {
    return fold(createStoredRun({ summary, snapshot }, readMissed));
  } catch (thrown) {
    if (thrown instanceof RecordsNotRead) return undefined;
    throw thrown;
  }
}
