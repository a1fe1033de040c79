import { resolve } from 'node:path';
import { CoxswainError } from '../base/error.ts';
import type { Json } from '../base/json.ts';
import { parseRecord } from '../records/decode-record.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import { checkBatch } from '../store/check-batch.ts';
import { checkChange } from '../store/check-change.ts';
import type { RunSummary } from '../store/run-summary.ts';
import { storeClosed } from '../store/store-error.ts';
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
import { BatchSender } from './sent-batch.ts';
import { WorkerLink } from './worker-link.ts';
import {
  fromWorkerError,
  type WorkerAppended,
  type WorkerPage,
  type WorkerRequest,
  type WorkerStoreTarget,
  type WorkerView,
} from './worker-protocol.ts';

export type { WorkerStoreTarget } from './worker-protocol.ts';

/** How the thread is started. */
export interface WorkerStoreOptions {
  /**
   * Where the thread's program lies, for programs that are bundled into one file: a copy of the package's
   * `dist/recorder/store-worker.js`, bundled by itself. Default: the package's own.
   */
  readonly entry?: URL;
}

/** How often a transaction is tried when other writers of the run are faster. */
const MAX_TRIES = 200;

/**
 * A SQLite store whose disk work happens in a thread of its own, so that a long-lived process never waits for a
 * sync: `workerStore({ path: '.coxswain/runs.db' })`.
 *
 * Everything is as `sqliteStore` documents it, with these differences: it is opened at the first use, so what
 * opening throws comes from there; options and queries are plain data; `transact` folds in this thread and is tried again
 * when another writer changed the run meanwhile. Should the thread stop by itself, what was under way throws `store-io`
 * and the next call starts it again, five times a minute at most.
 *
 * The thread keeps the process alive only while a call is under way. Its start with the first append took 72 ms on two
 * busy cores.
 */
export function workerStore(target: WorkerStoreTarget, options: WorkerStoreOptions = {}): TrajectoryStore {
  return new WorkerStore(new WorkerLink({ ...target, path: resolve(target.path) }, options.entry));
}

/** Thrown into a fold that asks for records which were not read with the view. */
class NotRead extends Error {}

class WorkerStore implements TrajectoryStore {
  readonly #link: WorkerLink;
  readonly #sender = new BatchSender();
  #nextCursor = 0;
  #closing: Promise<void> | undefined;

  constructor(link: WorkerLink) {
    this.#link = link;
  }

  async append(batch: readonly TrajectoryRecord[]): Promise<number> {
    this.#mustBeOpen();
    const sent = this.#sender.send(checkBatch(batch));
    // The thread answers each request with what the store's method of that name gives, and here with the bytes; so below.
    const { lastSeq, bytes } = (await this.#ask({ method: 'append', batch: sent }, sent.chars)) as WorkerAppended;
    this.#sender.takeBack(bytes);
    return lastSeq;
  }

  async flush(): Promise<void> {
    await this.#ask({ method: 'flush' });
  }

  close(): Promise<void> {
    this.#closing ??= this.#link.end({ method: 'close' });
    return this.#closing;
  }

  async listRuns(query?: RunQuery): Promise<RunPage> {
    return (await this.#ask({ method: 'listRuns', query })) as RunPage;
  }

  async findRun(runId: string): Promise<RunSummary | undefined> {
    return (await this.#ask({ method: 'findRun', runId })) as RunSummary | undefined;
  }

  async deleteRun(runId: string): Promise<boolean> {
    return (await this.#ask({ method: 'deleteRun', runId })) as boolean;
  }

  async sizeOf(): Promise<number> {
    return (await this.#ask({ method: 'sizeOf' })) as number;
  }

  async search(query: SearchQuery): Promise<SearchPage> {
    return (await this.#ask({ method: 'search', query })) as SearchPage;
  }

  readRun(runId: string, query?: ReadQuery): AsyncGenerator<TrajectoryRecord, void, void> {
    return this.#pages((cursor) => ({ method: 'read', cursor, runId, query }), parseRecord);
  }

  verify(): AsyncGenerator<StoreProblem, void, void> {
    // The thread wrote a StoreProblem.
    return this.#pages(
      (cursor) => ({ method: 'verify', cursor }),
      (line) => JSON.parse(line) as StoreProblem,
    );
  }

  async transact<Result>(runId: string, fold: (view: StoredRun) => RunChange<Result>): Promise<Result> {
    let withMissed = false;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const view = (await this.#ask({ method: 'view', runId, withMissed })) as WorkerView;
      const folded = foldView(view, fold);
      if (folded === undefined) {
        withMissed = true;
        continue;
      }
      const { batch, snapshotJson: snapshot, result } = checkChange(runId, folded);
      if (batch === undefined && snapshot === undefined) return result;
      const lines = batch?.records.map(({ json }) => json) ?? [];
      const chars = (batch?.chars ?? 0) + (snapshot?.length ?? 0);
      if ((await this.#ask({ method: 'commit', runId, token: view.token, lines, snapshot }, chars)) === true) {
        return result;
      }
    }
    throw new CoxswainError(
      'store-io',
      `run ${JSON.stringify(runId)} was changed by others at each of ${MAX_TRIES} tries`,
    );
  }

  async *#pages<T>(
    request: (cursor: number) => WorkerRequest,
    decode: (line: string) => T,
  ): AsyncGenerator<T, void, void> {
    const cursor = (this.#nextCursor += 1);
    let isLast = false;
    try {
      while (!isLast) {
        const page = (await this.#ask(request(cursor))) as WorkerPage;
        isLast = page.isLast;
        for (const line of page.lines) {
          this.#mustBeOpen();
          yield decode(line);
        }
        if (page.error !== undefined) throw fromWorkerError(page.error);
      }
    } finally {
      if (!isLast && this.#closing === undefined) await this.#link.ask({ method: 'leave', cursor });
    }
  }

  async #ask(request: WorkerRequest, chars = 0): Promise<unknown> {
    this.#mustBeOpen();
    return this.#link.ask(request, chars);
  }

  #mustBeOpen(): void {
    if (this.#closing !== undefined) throw storeClosed();
  }
}

/** @returns undefined when the fold has asked for records that are not there yet */
function foldView<Result>(
  view: WorkerView,
  fold: (view: StoredRun) => RunChange<Result>,
): RunChange<Result> | undefined {
  const { summary, nextSeq, snapshotSeq, missed } = view;
  try {
    return fold({
      summary,
      nextSeq,
      // The thread wrote the JSON of a snapshot.
      snapshot: view.snapshot === undefined ? undefined : (JSON.parse(view.snapshot) as Json),
      snapshotSeq,
      missed: () => {
        if (nextSeq === snapshotSeq + 1) return [];
        if (missed === undefined)
          throw new NotRead('records that the snapshot does not cover are read for the next call of the fold');
        return missed.map(parseRecord);
      },
    });
  } catch (thrown) {
    if (thrown instanceof NotRead) return undefined;
    throw thrown;
  }
}
