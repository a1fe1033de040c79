import { mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { CoxswainError, messageOf } from '../../core/base/error.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { projectAt } from '../../core/node/git-folder.ts';
import { filesOfSessions, type FoundSession } from '../../formats/find-sessions.ts';
import { findSources, type FoundSource, sessionFolder } from '../../formats/find-sources.ts';
import { followSource, type FollowState } from '../../formats/follow-source.ts';
import type { ImportItem } from '../../formats/importer.ts';
import { importSource } from '../../formats/import-source.ts';
import { readRuns } from '../../formats/read-runs.ts';
import { RunIds } from '../../formats/run-ids.ts';
import { createRedactor } from '../../core/redact/redactor.ts';
import { allRuns } from '../../core/store/run-page.ts';
import { foldRunSummaries, lastSeqOf, type RunSummary } from '../../core/facts/run-summary.ts';
import { openSqliteReader } from '../../stores/sqlite/sqlite-reader.ts';
import { sqliteStore } from '../../stores/sqlite/sqlite-store.ts';
import { checkSearchQuery, createSearchScan } from '../../core/store/search-page.ts';
import { MAX_BATCH_RECORDS, type TrajectoryStore } from '../../core/store/trajectory-store.ts';
import type { RunReader } from './read-records.ts';

/** Number of files that are followed, the most recently changed ones. The others are read once. */
const MAX_FOLLOWED = 20;
const FOLLOW_INTERVAL_MS = 500;
const MAX_CHANGED = 1_000;
const LINE_FEED = 10;

export type FilesInput = string | readonly FoundSession[];

/**
 * Reads files into a temporary store that only its owner can read, with secrets replaced. The 20 most recently changed
 * files in line formats are followed: the end that an importer holds back, such as the last answer, is read from the
 * whole file whenever the file pauses.
 *
 * @throws CoxswainError with the errors of `sqliteStore`
 */
export async function readFiles(input: FilesInput): Promise<RunReader> {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-view-'));
  const file = join(folder, 'runs.db');
  const store = sqliteStore(file, { fsync: 'none' });
  // The search of this reader also covers records that are not indexed yet.
  const reader = openSqliteReader(file);
  const reading = new FilesReading(input, store);
  reading.start();
  const withTail = (run: RunSummary): RunSummary => {
    const tail = reading.tailOf(run.runId);
    return tail.length === 0 ? run : foldRunSummaries(run, tail);
  };
  const findRun = async (runId: string): Promise<RunSummary | undefined> => {
    const run = await reader.findRun(runId);
    if (run !== undefined) return withTail(run);
    const tail = reading.tailOf(runId);
    return tail.length === 0 ? undefined : foldRunSummaries(undefined, tail);
  };
  return {
    listRuns: (query) => reader.listRuns(query),
    listAll: async function* () {
      const unstored = new Set(reading.tailRunIds());
      for await (const run of allRuns(reader)) {
        unstored.delete(run.runId);
        yield withTail(run);
      }
      for (const runId of unstored) {
        const run = await findRun(runId);
        if (run !== undefined) yield run;
      }
    },
    findRun,
    readRun: async function* (runId, query = {}) {
      const { fromSeq = 0, limit = Number.POSITIVE_INFINITY } = query;
      const tail = reading.tailOf(runId);
      const tailSeq = tail[0]?.seq ?? Number.POSITIVE_INFINITY;
      let count = 0;
      for await (const record of reader.readRun(runId, query)) {
        // The file has grown since, and the run is read again.
        if (record.seq >= tailSeq) break;
        count += 1;
        yield record;
      }
      yield* tail.filter(({ seq }) => seq >= fromSeq).slice(0, limit - count);
    },
    search: async (query) => {
      const page = await reader.search(query);
      if (query.after !== undefined) return page;
      const scan = createSearchScan(checkSearchQuery(query));
      for (const runId of reading.tailRunIds()) for (const record of reading.tailOf(runId)) scan.offer(record);
      // Hits descend, and a tail follows every stored record of its run.
      return { ...page, hits: [...scan.hits, ...page.hits] };
    },
    changes: async () => reading.takeChanges(),
    takeReplaced: () => reading.takeReplaced(),
    indexing: () => reading.indexing(),
    projectOf: (runId) => reading.projectOf(runId),
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
  readonly #input: FilesInput;
  readonly #store: TrajectoryStore;
  readonly #stop = new AbortController();
  readonly #redactor = createRedactor();
  readonly #ids = new RunIds();
  readonly #waiting = new Map<string, TrajectoryRecord[]>();
  readonly #refusedRunIds = new Set<string>();
  #waitingRecords = 0;
  readonly #storedSeqs = new Map<string, number>();
  readonly #projects = new Map<string, string>();
  /** The records at the end of a run that its importer still holds back. */
  readonly #tails = new Map<string, readonly TrajectoryRecord[]>();
  #replacedRunIds = new Set<string>();
  #changedRunIds: Set<string> | undefined;
  #fileCount = 0;
  #doneCount = 0;
  #isListed = false;
  #runPromise: Promise<unknown> = Promise.resolve();
  #problemCount = 0;
  #firstProblem = '';
  readonly #unknownFiles: string[] = [];

  constructor(input: FilesInput, store: TrajectoryStore) {
    this.#input = input;
    this.#store = store;
  }

  get trouble(): string | undefined {
    if (this.#problemCount > 1) return `${this.#firstProblem} (and ${this.#problemCount - 1} more)`;
    if (this.#problemCount === 1) return this.#firstProblem;
    const [first] = this.#unknownFiles;
    if (first === undefined) return undefined;
    const others = this.#unknownFiles.length === 1 ? '' : ` and ${this.#unknownFiles.length - 1} more`;
    return `${first}${others} left out: no format that coxswain reads`;
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

  projectOf(runId: string): string | undefined {
    return this.#projects.get(runId);
  }

  tailOf(runId: string): readonly TrajectoryRecord[] {
    return this.#tails.get(runId) ?? [];
  }

  tailRunIds(): Iterable<string> {
    return this.#tails.keys();
  }

  takeReplaced(): ReadonlySet<string> {
    const replaced = this.#replacedRunIds;
    this.#replacedRunIds = new Set();
    return replaced;
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
    const found = typeof this.#input === 'string' ? findSources([this.#input]) : filesOfSessions(this.#input, 0);
    for await (const source of found) {
      // Reading a pipe or device in a folder would block.
      if (source.named || source.sizeBytes !== undefined) foundSources.push(source);
      this.#fileCount = foundSources.length;
      if (this.#stop.signal.aborted) return;
    }
    this.#isListed = true;
    const recent = await mostRecent(foundSources);
    const followedFiles: Promise<void>[] = [];
    for (const source of foundSources) {
      if (this.#stop.signal.aborted) break;
      const isFollowed =
        recent.has(source.path) && (await endsInLine(source)) && (await this.#followFile(source, followedFiles));
      if (!isFollowed)
        await this.#importSource(
          source,
          importSource(source.path, { signal: this.#stop.signal, format: source.format }),
        );
      this.#doneCount += 1;
    }
    await Promise.all(followedFiles);
  }

  /** Resolves when the current content has been read. Returns false if the format cannot be followed. */
  async #followFile(source: FoundSource, followedFiles: Promise<void>[]): Promise<boolean> {
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, this.#stop.signal]);
    const firstRead = Promise.withResolvers<boolean>();
    let isFollowed = false;
    const runIds = new Map<string, string>();
    const tails = new TailReader(async (isCurrent) => {
      const tail = await this.#readTail(source, runIds);
      if (isCurrent()) this.#showTail(runIds, tail);
    });
    const onState = async (state: FollowState): Promise<void> => {
      await this.#writeBatches();
      if (state.type === 'restarted') tails.drop();
      if (state.type !== 'caught_up') return;
      // The lines were not recognised. Reading more of the file rarely helps.
      if (state.waitingLines > 0) stop.abort();
      else await tails.read(isFollowed);
      firstRead.resolve(state.waitingLines === 0);
    };
    const items = followSource(source.path, {
      signal,
      wait: false,
      intervalMs: FOLLOW_INTERVAL_MS,
      onState,
      format: source.format,
    });
    const importing = this.#importItems(source, items, (runKey, runId) => {
      runIds.set(runKey, runId);
      tails.drop();
    })
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
      // A file in the folder of an agent program's sessions has its format.
      const isSession = source.format !== undefined && source.sizeBytes !== 0;
      if (source.named || isSession || !isUnknown) this.#noteProblem(messageOf(error));
      else this.#unknownFiles.push(source.path);
    }
  }

  async #importItems(
    { path, sizeBytes }: FoundSource,
    items: AsyncIterable<ImportItem>,
    onRecord: (runKey: string, runId: string) => void = () => {},
  ): Promise<void> {
    // The content of a pipe can be read only once.
    let project = sizeBytes === undefined ? undefined : projectAt(await sessionFolder(path));
    try {
      for await (const item of readRuns(items, { source: path, ids: this.#ids })) {
        if (this.#stop.signal.aborted) return;
        if (item.type === 'record') {
          if (path.endsWith('.db') && item.record.seq === 0)
            project = projectAt(await sessionFolder(path, item.run.id));
          if (project !== undefined) this.#projects.set(item.run.id, project);
          onRecord(item.run.key, item.run.id);
          await this.#addRecord(item.run.id, item.record);
        }
        if (item.type === 'diagnostic' && item.diagnostic.severity === 'error') {
          this.#noteProblem(`${path}: ${item.diagnostic.message}`);
        }
      }
    } finally {
      await this.#writeBatches();
    }
  }

  async #readTail(
    { format, path }: FoundSource,
    runIds: ReadonlyMap<string, string>,
  ): Promise<ReadonlyMap<string, readonly TrajectoryRecord[]>> {
    const tail = new Map<string, TrajectoryRecord[]>();
    const { signal } = this.#stop;
    try {
      for await (const item of readRuns(importSource(path, { signal, format }), { source: path })) {
        if (signal.aborted) break;
        if (item.type !== 'record') continue;
        const { record, run } = item;
        const runId = runIds.get(run.key) ?? run.id;
        if (record.seq <= (this.#storedSeqs.get(runId) ?? -1)) continue;
        const shown = { ...record, run_id: runId, payload: this.#redactor.redact(record.payload) };
        const records = tail.get(runId);
        if (records === undefined) tail.set(runId, [shown]);
        else records.push(shown);
      }
    } catch {
      // Following the file reports the reason.
    }
    return tail;
  }

  #showTail(runIds: Map<string, string>, tail: ReadonlyMap<string, readonly TrajectoryRecord[]>): void {
    for (const [runId, records] of tail) {
      // A run that the importer holds back completely has no key yet.
      if (![...runIds.values()].includes(runId)) runIds.set(`held back ${runId}`, runId);
      this.#tails.set(runId, records);
      this.#changedRunIds?.add(runId);
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
        const last = batch.at(-1);
        if (last !== undefined) this.#storedSeqs.set(runId, lastSeqOf(last));
        if (this.#tails.delete(runId)) this.#replacedRunIds.add(runId);
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

/** Reads the tail of a file again after each growth: one reading at a time, and none that is outdated. */
class TailReader {
  readonly #readTail: (isCurrent: () => boolean) => Promise<void>;
  #round = 0;
  #reading: Promise<void> = Promise.resolve();

  constructor(readTail: (isCurrent: () => boolean) => Promise<void>) {
    this.#readTail = readTail;
  }

  drop(): void {
    this.#round += 1;
  }

  async read(isInBackground: boolean): Promise<void> {
    const round = this.#round;
    const isCurrent = (): boolean => round === this.#round;
    this.#reading = this.#reading.then(() => (isCurrent() ? this.#readTail(isCurrent) : undefined));
    if (!isInBackground) await this.#reading;
  }
}

async function mostRecent(sources: readonly FoundSource[]): Promise<ReadonlySet<string>> {
  if (sources.length <= MAX_FOLLOWED) return new Set(sources.map(({ path }) => path));
  const times = await Promise.all(
    sources.map(async ({ path }) => ({ path, atMs: (await stat(path).catch(() => undefined))?.mtimeMs ?? 0 })),
  );
  return new Set(
    times
      .toSorted((a, b) => b.atMs - a.atMs)
      .slice(0, MAX_FOLLOWED)
      .map(({ path }) => path),
  );
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
