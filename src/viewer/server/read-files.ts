import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { CoxswainError, messageOf } from '../../base/error.ts';
import type { TrajectoryRecord } from '../../records/trajectory-record.ts';
import { findSources, type FoundSource } from '../../formats/find-sources.ts';
import { followSource, type FollowState } from '../../formats/follow-source.ts';
import type { ImportItem } from '../../formats/import-item.ts';
import { importSource } from '../../formats/import-source.ts';
import { readRuns } from '../../formats/read-runs.ts';
import { RunIds } from '../../formats/run-ids.ts';
import { createRedactor } from '../../redaction/redactor.ts';
import { openSqliteReader } from '../../store/sqlite/sqlite-reader.ts';
import { sqliteStore } from '../../store/sqlite/sqlite-store.ts';
import { MAX_BATCH_RECORDS, type TrajectoryStore } from '../../store/trajectory-store.ts';
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
  readonly #refused = new Set<string>();
  #waitingRecords = 0;
  #changed: Set<string> | undefined;
  #files = 0;
  #done = 0;
  #isListed = false;
  #running: Promise<unknown> = Promise.resolve();
  #problems = 0;
  #firstProblem = '';

  constructor(path: string, store: TrajectoryStore) {
    this.#path = path;
    this.#store = store;
  }

  get trouble(): string | undefined {
    if (this.#problems === 0) return undefined;
    return this.#problems === 1 ? this.#firstProblem : `${this.#firstProblem} (and ${this.#problems - 1} more)`;
  }

  indexing(): { readonly files: number; readonly done: number } | undefined {
    return this.#isListed && this.#done >= this.#files ? undefined : { files: this.#files, done: this.#done };
  }

  takeChanges(): readonly string[] | undefined {
    const changed = this.#changed;
    this.#changed = new Set();
    return changed === undefined || changed.size > MAX_CHANGED ? undefined : [...changed];
  }

  start(): void {
    this.#running = this.#run().catch((error: unknown) => this.#problem(messageOf(error)));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const found: FoundSource[] = [];
    for await (const source of findSources([this.#path])) {
      // Reading a pipe or device in a folder would block.
      if (source.named || source.sizeBytes !== undefined) found.push(source);
      this.#files = found.length;
      if (this.#stop.signal.aborted) return;
    }
    this.#isListed = true;
    const followed: Promise<void>[] = [];
    for (const source of found) {
      if (this.#stop.signal.aborted) break;
      const isFollowed =
        found.length <= MAX_FOLLOWED && (await endsInLine(source)) && (await this.#follow(source, followed));
      if (!isFollowed) await this.#take(source, importSource(source.path, { signal: this.#stop.signal }));
      this.#done += 1;
    }
    await Promise.all(followed);
  }

  /** Resolves when the current content has been read. @returns false if the format cannot be followed */
  async #follow(source: FoundSource, followed: Promise<void>[]): Promise<boolean> {
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, this.#stop.signal]);
    const readSoFar = Promise.withResolvers<boolean>();
    const onState = async (state: FollowState): Promise<void> => {
      await this.#write();
      if (state.type !== 'caught_up') return;
      // The lines were not recognised. Reading more of the file rarely helps.
      if (state.waitingLines > 0) stop.abort();
      readSoFar.resolve(state.waitingLines === 0);
    };
    const items = followSource(source.path, { signal, wait: false, intervalMs: FOLLOW_INTERVAL_MS, onState });
    let isFollowed = false;
    const run = this.#taken(source, items)
      .then(() => readSoFar.resolve(isFollowed))
      .catch((error: unknown) => {
        if (isFollowed && !this.#stop.signal.aborted) this.#problem(messageOf(error));
        readSoFar.resolve(false);
      });
    isFollowed = await readSoFar.promise;
    if (isFollowed) followed.push(run);
    else await run;
    return isFollowed;
  }

  async #take(source: FoundSource, items: AsyncIterable<ImportItem>): Promise<void> {
    try {
      await this.#taken(source, items);
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      const isUnknown = error instanceof CoxswainError && error.code === 'format-unknown';
      // Other files in a folder are ignored.
      if (source.named || !isUnknown) this.#problem(messageOf(error));
    }
  }

  async #taken({ path }: FoundSource, items: AsyncIterable<ImportItem>): Promise<void> {
    try {
      for await (const item of readRuns(items, { source: path, ids: this.#ids })) {
        if (this.#stop.signal.aborted) return;
        if (item.type === 'record') await this.#add(item.run.id, item.record);
        else if (item.type === 'diagnostic' && item.diagnostic.severity === 'error') {
          this.#problem(`${path}: ${item.diagnostic.message}`);
        }
      }
    } finally {
      await this.#write();
    }
  }

  async #add(runId: string, record: TrajectoryRecord): Promise<void> {
    if (this.#refused.has(runId)) return;
    const clean = { ...record, payload: this.#redactor.redact(record.payload) };
    const waiting = this.#waiting.get(runId);
    if (waiting === undefined) this.#waiting.set(runId, [clean]);
    else waiting.push(clean);
    this.#waitingRecords += 1;
    if (this.#waitingRecords >= MAX_BATCH_RECORDS) await this.#write();
  }

  async #write(): Promise<void> {
    const batches = [...this.#waiting];
    this.#waiting.clear();
    this.#waitingRecords = 0;
    for (const [runId, batch] of batches) {
      try {
        await this.#store.append(batch);
        this.#changed?.add(runId);
      } catch (error) {
        this.#refused.add(runId);
        this.#problem(`run ${runId}: ${messageOf(error)}`);
      }
    }
  }

  #problem(message: string): void {
    this.#problems += 1;
    if (this.#problems === 1) this.#firstProblem = message;
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
