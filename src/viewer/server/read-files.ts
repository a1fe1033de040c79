import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { CoxswainError, messageOf } from '../../core/base/error.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { findSources, type FoundSource } from '../../formats/find-sources.ts';
import { followSource, type FollowState } from '../../formats/follow-source.ts';
import type { ImportItem } from '../../formats/import-item.ts';
import { importSource } from '../../formats/import-source.ts';
import { readRuns } from '../../formats/read-runs.ts';
import { RunIds } from '../../formats/run-ids.ts';
import { createRedactor } from '../../core/redact/redactor.ts';
import { openSqliteReader } from '../../stores/sqlite/sqlite-reader.ts';
import { sqliteStore } from '../../stores/sqlite/sqlite-store.ts';
import { MAX_BATCH_RECORDS, type TrajectoryStore } from '../../core/store/trajectory-store.ts';
import type { RunReader } from './run-reader.ts';

/** With more files than this, no file is followed and each is read once. */
const MAX_FOLLOWED = 20;
const FOLLOW_INTERVAL_MS = 500;
const MAX_CHANGED = 1_000;
const LINE_FEED = 10;

/**
 * Reads files of any import format into a temporary store in the background. The path is a file, folder or glob. Secrets are replaced as
 * in a live run. Up to 20 files in line formats are followed as they grow. `trouble` reports files that cannot be read.
 *
 * The store is a SQLite file in a new temporary folder that only its owner can read. `close` deletes it.
 *
 * Memory: the importers' state, and 500 records.
 *
 * @throws CoxswainError with the errors of `sqliteStore`
 */
export async function readFiles(path: string): Promise<RunReader> {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-view-'));
  const file = join(folder, 'runs.db');
  const store = sqliteStore(file, { fsync: 'none' });
  // The search of this reader also covers records that are not indexed yet.
  const reader = openSqliteReader(file);
  const reading = new FilesReading(path, store);
  reading.start();
  return {
    listRuns: (query) => reader.listRuns(query),
    findRun: (runId) => reader.findRun(runId),
    readRun: (runId, query) => reader.readRun(runId, query),
    search: (query) => reader.search(query),
    changes: async () => reading.takeChanges(),
    indexing: () => reading.indexing(),
    trouble: () => reading.trouble,
    close: async () => {
      await reading.stop();
      await reader.close();
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

class FilesReading {
  readonly #path: string;
  readonly #store: TrajectoryStore;
  readonly #stop = new AbortController();
  readonly #redactor = createRedactor();
  readonly #ids = new RunIds();
  readonly #waiting = new Map<string, TrajectoryRecord[]>();
  readonly #refusedRunIds = new Set<string>();
  #waitingRecords = 0;
  #changedRunIds: Set<string> | undefined;
  #fileCount = 0;
  #doneCount = 0;
  #isListed = false;
  #runPromise: Promise<unknown> = Promise.resolve();
  #problemCount = 0;
  #firstProblem = '';

  constructor(path: string, store: TrajectoryStore) {
    this.#path = path;
    this.#store = store;
  }

  get trouble(): string | undefined {
    if (this.#problemCount === 0) return undefined;
    return this.#problemCount === 1 ? this.#firstProblem : `${this.#firstProblem} (and ${this.#problemCount - 1} more)`;
  }

  indexing(): { readonly files: number; readonly done: number } | undefined {
    return this.#isListed && this.#doneCount >= this.#fileCount
      ? undefined
      : { files: this.#fileCount, done: this.#doneCount };
  }

  takeChanges(): readonly string[] | undefined {
    const changed = this.#changedRunIds;
    this.#changedRunIds = new Set();
    return changed === undefined || changed.size > MAX_CHANGED ? undefined : [...changed];
  }

  start(): void {
    this.#runPromise = this.#readSources().catch((error: unknown) => this.#noteProblem(messageOf(error)));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#runPromise;
  }

  async #readSources(): Promise<void> {
    const foundSources: FoundSource[] = [];
    for await (const source of findSources([this.#path])) {
      // Reading a pipe or device in a folder would block.
      if (source.named || source.sizeBytes !== undefined) foundSources.push(source);
      this.#fileCount = foundSources.length;
      if (this.#stop.signal.aborted) return;
    }
    this.#isListed = true;
    const followedFiles: Promise<void>[] = [];
    for (const source of foundSources) {
      if (this.#stop.signal.aborted) break;
      const isFollowed =
        foundSources.length <= MAX_FOLLOWED &&
        (await endsInLine(source)) &&
        (await this.#followFile(source, followedFiles));
      if (!isFollowed) await this.#importSource(source, importSource(source.path, { signal: this.#stop.signal }));
      this.#doneCount += 1;
    }
    await Promise.all(followedFiles);
  }

  /** Resolves when the current content has been read. @returns false if the format cannot be followed */
  async #followFile(source: FoundSource, followedFiles: Promise<void>[]): Promise<boolean> {
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, this.#stop.signal]);
    const firstRead = Promise.withResolvers<boolean>();
    const onState = async (state: FollowState): Promise<void> => {
      await this.#writeBatches();
      if (state.type !== 'caught_up') return;
      // The lines were not recognised. Reading more of the file rarely helps.
      if (state.waitingLines > 0) stop.abort();
      firstRead.resolve(state.waitingLines === 0);
    };
    const items = followSource(source.path, { signal, wait: false, intervalMs: FOLLOW_INTERVAL_MS, onState });
    let isFollowed = false;
    const importing = this.#importItems(source, items)
      .then(() => firstRead.resolve(isFollowed))
      .catch((error: unknown) => {
        if (isFollowed && !this.#stop.signal.aborted) this.#noteProblem(messageOf(error));
        firstRead.resolve(false);
      });
    isFollowed = await firstRead.promise;
    if (isFollowed) followedFiles.push(importing);
    else await importing;
    return isFollowed;
  }

  async #importSource(source: FoundSource, items: AsyncIterable<ImportItem>): Promise<void> {
    try {
      await this.#importItems(source, items);
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      const isUnknown = error instanceof CoxswainError && error.code === 'format-unknown';
      // Other files in a folder are ignored.
      if (source.named || !isUnknown) this.#noteProblem(messageOf(error));
    }
  }

  async #importItems({ path }: FoundSource, items: AsyncIterable<ImportItem>): Promise<void> {
    try {
      for await (const item of readRuns(items, { source: path, ids: this.#ids })) {
        if (this.#stop.signal.aborted) return;
        if (item.type === 'record') await this.#addRecord(item.run.id, item.record);
        else if (item.type === 'diagnostic' && item.diagnostic.severity === 'error') {
          this.#noteProblem(`${path}: ${item.diagnostic.message}`);
        }
      }
    } finally {
      await this.#writeBatches();
    }
  }

  async #addRecord(runId: string, record: TrajectoryRecord): Promise<void> {
    if (this.#refusedRunIds.has(runId)) return;
    const redactedRecord = { ...record, payload: this.#redactor.redact(record.payload) };
    const waitingRecords = this.#waiting.get(runId);
    if (waitingRecords === undefined) this.#waiting.set(runId, [redactedRecord]);
    else waitingRecords.push(redactedRecord);
    this.#waitingRecords += 1;
    if (this.#waitingRecords >= MAX_BATCH_RECORDS) await this.#writeBatches();
  }

  async #writeBatches(): Promise<void> {
    const batches = [...this.#waiting];
    this.#waiting.clear();
    this.#waitingRecords = 0;
    for (const [runId, batch] of batches) {
      try {
        await this.#store.append(batch);
        this.#changedRunIds?.add(runId);
      } catch (error) {
        this.#refusedRunIds.add(runId);
        this.#noteProblem(`run ${runId}: ${messageOf(error)}`);
      }
    }
  }

  #noteProblem(message: string): void {
    this.#problemCount += 1;
    if (this.#problemCount === 1) this.#firstProblem = message;
  }
}

/** Returns true if the file ends in a line feed. Without one, following would never return the last line. */
async function endsInLine({ path, sizeBytes }: FoundSource): Promise<boolean> {
  if (sizeBytes === undefined || sizeBytes === 0) return false;
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(1), 0, 1, sizeBytes - 1);
      return bytesRead === 1 && buffer[0] === LINE_FEED;
    } finally {
      await file.close();
    }
  } catch {
    // Reading the file later reports the reason.
    return false;
  }
}
