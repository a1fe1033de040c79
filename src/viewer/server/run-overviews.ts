import { LruMap } from '../../core/base/lru-map.ts';
import type { RunSummary } from '../../core/facts/run-summary.ts';
import type { SubagentWork } from '../../core/facts/subagent-work.ts';
import type { Overview, RunExtras, RunRow } from './api-shapes.ts';
import { createBreather } from '../../core/node/run-limited.ts';
import { isDamage } from './read-records.ts';
import { extrasWith, type OwnExtras, RunOverviewFold } from './run-overview-fold.ts';
import { FirstLook, type KnownTimeline } from './strip-fold.ts';
import type { ViewerSource } from './viewer-source.ts';
import { waitAtMost } from './wait-at-most.ts';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { deflateSync, inflateSync } from 'node:zlib';
import { hashText } from '../../core/base/hash.ts';
import { BUILD_HASH } from '../../core/node/build-hash.ts';
import { RunRows } from './run-rows.ts';

const BATCH_ROWS = 500;
const BATCH_MS = 1_000;
/** Maximum number of cached timelines. Each takes about 100 KB. */
const MAX_TIMELINES = 200;

interface IndexedRun {
  readonly fingerprint: string;
  readonly extras: OwnExtras;
}

function fingerprintOf(run: RunSummary): string {
  return hashText(JSON.stringify(run));
}

/**
 * Caches the extras of runs and the timelines of long runs across restarts, in a SQLite file of the user's cache folder. A row is valid as long as the run's state
 * (`fingerprintOf`) and the build are unchanged. If the file fails, the viewer works without the cache.
 */
class RunIndex {
  readonly #source: string;
  #database: DatabaseSync | undefined;
  #waitingRows = new Map<string, IndexedRun>();
  #timer: NodeJS.Timeout | undefined;

  constructor(folder: string | undefined, sourcePath: string) {
    this.#source = hashText(`${BUILD_HASH} ${sourcePath}`);
    this.#database = folder === undefined ? undefined : openDatabase(folder);
  }

  loadExtras(): Map<string, IndexedRun> {
    const runs = new Map<string, IndexedRun>();
    this.#useDatabase((database) => {
      const rows = database.prepare('SELECT run_id, print, extras FROM runs WHERE source = ?').iterate(this.#source);
      for (const row of rows) {
        // `#writeBatch` stores the same shape. Rows of another build have another source key.
        const extras = JSON.parse(String(row['extras'])) as OwnExtras;
        runs.set(String(row['run_id']), { fingerprint: String(row['print']), extras });
      }
    });
    return runs;
  }

  loadTimeline(run: RunSummary): KnownTimeline | undefined {
    let timeline: KnownTimeline | undefined;
    this.#useDatabase((database) => {
      const row = database
        .prepare('SELECT overview, rows FROM opened_runs WHERE source = ? AND run_id = ? AND print = ?')
        .get(this.#source, run.runId, fingerprintOf(run));
      if (row === undefined || !(row['rows'] instanceof Uint8Array)) return;
      // `storeTimeline` stores the same shapes.
      const overview = JSON.parse(String(row['overview'])) as Overview;
      const rows = JSON.parse(inflateSync(row['rows']).toString()) as readonly RunRow[];
      const { nextSeq } = overview;
      timeline = {
        nextSeq,
        rows: RunRows.from(rows),
        overview: (lastSeq) => ({ ...overview, complete: nextSeq > lastSeq }),
      };
    });
    return timeline;
  }

  storeTimeline(run: RunSummary, timeline: KnownTimeline): void {
    this.#useDatabase((database) => {
      const overview = JSON.stringify(timeline.overview(run.lastSeq));
      const rows = deflateSync(JSON.stringify(timeline.rows.list), { level: 1 });
      database
        .prepare('INSERT OR REPLACE INTO opened_runs VALUES (?, ?, ?, ?, ?)')
        .run(this.#source, run.runId, fingerprintOf(run), overview, rows);
      database
        .prepare('DELETE FROM opened_runs WHERE rowid <= (SELECT max(rowid) - ? FROM opened_runs)')
        .run(MAX_TIMELINES);
    });
  }

  storeExtras(run: RunSummary, extras: OwnExtras): void {
    if (this.#database === undefined) return;
    this.#waitingRows.set(run.runId, { fingerprint: fingerprintOf(run), extras });
    if (this.#waitingRows.size >= BATCH_ROWS) this.#writeBatch();
    else this.#timer ??= setTimeout(() => this.#writeBatch(), BATCH_MS).unref();
  }

  close(): void {
    this.#writeBatch();
    this.#useDatabase((database) => database.close());
    this.#database = undefined;
  }

  #writeBatch(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const rows = this.#waitingRows;
    this.#waitingRows = new Map();
    if (rows.size === 0) return;
    this.#useDatabase((database) => {
      const insert = database.prepare('INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?)');
      database.exec('BEGIN IMMEDIATE');
      for (const [runId, { extras, fingerprint }] of rows)
        insert.run(this.#source, runId, fingerprint, JSON.stringify(extras));
      database.exec('COMMIT');
    });
  }

  /** Runs a database operation. After an error the cache is disabled. */
  #useDatabase(operation: (database: DatabaseSync) => void): void {
    try {
      if (this.#database !== undefined) operation(this.#database);
    } catch {
      this.#database = undefined;
    }
  }
}

function openDatabase(folder: string): DatabaseSync | undefined {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const file = join(folder, 'viewer-index.db');
    const database = new DatabaseSync(file, { timeout: 500 });
    chmodSync(file, 0o600);
    database.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
       CREATE TABLE IF NOT EXISTS runs (source TEXT, run_id TEXT, print TEXT, extras TEXT, PRIMARY KEY (source, run_id))
       WITHOUT ROWID;
       DROP TABLE IF EXISTS timelines;
       CREATE TABLE IF NOT EXISTS opened_runs
         (source TEXT, run_id TEXT, print TEXT, overview TEXT, rows BLOB, PRIMARY KEY (source, run_id))`,
    );
    return database;
  } catch {
    // An error disables the cache, as in `#useDatabase`.
    return undefined;
  }
}

/** Maximum number of runs whose state stays in memory, so that only appended records are read. See `RunOverviewFold` for their size. */
const MAX_OPENED = 24;
const MAX_LISTED = 24;
/** Each entry takes about 500 bytes. */
const MAX_EXTRAS = 100_000;
const MAX_READING = 2;
const RECORDS_PER_BREATH = 16;
/** The pause after a first look, in which nothing delays the requests of the page. */
const FIRST_LOOK_MS = 100;

/** The timeline of a longer run is cached across restarts. Reading this many records takes about 40 ms. */
const SHORT_RUN_RECORDS = 2_000;

export function isLongRun(run: RunSummary): boolean {
  return run.lastSeq >= SHORT_RUN_RECORDS;
}

interface CachedRun {
  /** A cached state cannot be continued: when records are appended, the run is read again. */
  timeline: KnownTimeline;
  reading?: Promise<void>;
  /** The first part of `reading`, until the strip is known. */
  looking?: Promise<void>;
  /** The run's `lastSeq` when reading it failed. The run is not read again until records are appended. */
  failedAtSeq?: number;
}

/** Each run is read once, then only its appended records. A damaged run is read up to the damaged record. */
export class RunOverviews {
  readonly #source: ViewerSource;
  readonly #openedRuns = new LruMap<CachedRun>(MAX_OPENED);
  /** The states of runs that were read only for a list. They are separate, so that reading all runs does not evict the opened ones. */
  readonly #listedRuns = new LruMap<CachedRun>(MAX_LISTED);
  readonly #extras = new LruMap<{ readonly lastSeq: number; readonly extras: OwnExtras }>(MAX_EXTRAS);
  readonly #index: RunIndex;
  #indexed: Map<string, IndexedRun> | undefined;
  readonly #waitingReads: (() => void)[] = [];
  #readCount = 0;

  constructor(source: ViewerSource, cacheFolder?: string) {
    this.#source = source;
    this.#index = new RunIndex(cacheFolder, source.path);
    source.listen((change) => {
      if (change.type === 'gone') this.#forget(change.runId);
      else if (change.type === 'reset') this.#clear();
    });
  }

  /** Returns the extras of a run, or undefined until all its records have been read. It is judged with the subagents that were read. */
  knownExtras(run: RunSummary): RunExtras | undefined {
    const own = this.#ownExtras(run);
    return own && extrasWith(own, own.work?.lastAct === undefined ? [] : this.#workBelow(run.runId));
  }

  #workBelow(runId: string): readonly SubagentWork[] {
    const ids = new Set(this.#source.childrenOf(runId));
    // A set visits what is added while it is read.
    for (const id of ids) for (const child of this.#source.childrenOf(id)) ids.add(child);
    return [...ids].flatMap((id) => {
      const run = this.#source.runs.get(id);
      const work = run && this.#ownExtras(run)?.work;
      return work === undefined ? [] : [{ id, ...work }];
    });
  }

  #ownExtras(run: RunSummary): OwnExtras | undefined {
    const { lastSeq, runId } = run;
    const cached = this.#extras.get(runId);
    if (cached !== undefined) return cached.lastSeq >= lastSeq ? cached.extras : undefined;
    this.#indexed ??= this.#index.loadExtras();
    const indexed = this.#indexed.get(runId);
    if (indexed === undefined) return undefined;
    this.#indexed.delete(runId);
    if (indexed.fingerprint !== fingerprintOf(run)) return undefined;
    this.#extras.set(runId, { lastSeq, extras: indexed.extras });
    return indexed.extras;
  }

  /** True while an opened run is being read. Background work waits for it. */
  get isBusy(): boolean {
    return this.#openedRuns.entries().some(([, { reading }]) => reading !== undefined);
  }

  close(): void {
    this.#index.close();
  }

  /** Returns undefined if reading takes longer than `waitMs`; reading continues in the background. */
  async extras(run: RunSummary, waitMs: number): Promise<RunExtras | undefined> {
    const extras = this.knownExtras(run);
    if (extras !== undefined) return extras;
    const cachedRun = this.#openedRuns.get(run.runId) ??
      this.#listedRuns.get(run.runId) ?? { timeline: new RunOverviewFold() };
    if (!this.#openedRuns.has(run.runId)) this.#listedRuns.set(run.runId, cachedRun);
    await this.#readWithin(run, cachedRun, waitMs);
    return this.knownExtras(run);
  }

  /** Returns the overview of the records that were read within `waitMs`; reading continues in the background. */
  async overview(run: RunSummary, waitMs: number): Promise<Overview> {
    const { failedAtSeq, timeline, reading } = await this.#openRun(run, waitMs);
    const overview = timeline.overview(run.lastSeq);
    // The extras of the run follow shortly after its last record.
    return { ...overview, complete: failedAtSeq === run.lastSeq || (overview.complete && reading === undefined) };
  }

  async timeline(run: RunSummary, waitMs: number): Promise<KnownTimeline> {
    return (await this.#openRun(run, waitMs)).timeline;
  }

  async #openRun(run: RunSummary, waitMs: number): Promise<CachedRun> {
    const cachedRun = this.#openedRuns.get(run.runId) ??
      this.#listedRuns.get(run.runId) ?? {
        timeline: (isLongRun(run) ? this.#index.loadTimeline(run) : undefined) ?? new RunOverviewFold(),
      };
    this.#openedRuns.set(run.runId, cachedRun);
    this.#listedRuns.delete(run.runId);
    await this.#readWithin(run, cachedRun, waitMs);
    return cachedRun;
  }

  async #readWithin(run: RunSummary, cachedRun: CachedRun, waitMs: number): Promise<void> {
    if (cachedRun.timeline.nextSeq <= run.lastSeq && cachedRun.failedAtSeq !== run.lastSeq)
      cachedRun.reading ??= this.#read(run, cachedRun);
    const { looking, reading } = cachedRun;
    if (reading !== undefined) await waitAtMost(looking ?? reading, waitMs);
  }

  async #read(run: RunSummary, cachedRun: CachedRun): Promise<void> {
    const overviewFold = cachedRun.timeline instanceof RunOverviewFold ? cachedRun.timeline : new RunOverviewFold();
    cachedRun.timeline = overviewFold;
    await this.#waitForTurn();
    try {
      const isOpened = this.#openedRuns.get(run.runId) === cachedRun;
      if (isOpened && isLongRun(run) && overviewFold.nextSeq === 0) {
        const firstLook = new FirstLook(overviewFold, run);
        cachedRun.timeline = firstLook;
        // The fold of the rest ends at the same damage, or fails in the same way.
        cachedRun.looking = this.#foldRecords(run, firstLook).catch(() => {});
        await cachedRun.looking;
        delete cachedRun.looking;
        // The page fetches its rows first.
        await sleep(FIRST_LOOK_MS, undefined, { ref: false });
      }
      await this.#foldRecords(run, overviewFold);
    } catch (error) {
      if (!isDamage(error) && run.problem === undefined) throw error;
      cachedRun.failedAtSeq = run.lastSeq;
    } finally {
      cachedRun.timeline = overviewFold;
      delete cachedRun.reading;
      this.#readCount -= 1;
      this.#waitingReads.shift()?.();
    }
    // The state was dropped from memory while the run was being read.
    if (this.#openedRuns.get(run.runId) !== cachedRun && this.#listedRuns.get(run.runId) !== cachedRun) return;
    const lastSeq = cachedRun.failedAtSeq ?? overviewFold.nextSeq - 1;
    const extras = overviewFold.extras();
    this.#extras.set(run.runId, { lastSeq, extras });
    // If the run grew in the meantime, its state is newer than its row.
    if (lastSeq !== run.lastSeq) return;
    this.#index.storeExtras(run, extras);
    if (isLongRun(run) && cachedRun.failedAtSeq === undefined) this.#index.storeTimeline(run, overviewFold);
  }

  async #foldRecords(run: RunSummary, fold: RunOverviewFold | FirstLook): Promise<void> {
    const reader = await this.#source.reader();
    const breath = createBreather();
    let count = 0;
    for await (const record of reader.readRun(run.runId, { fromSeq: fold.nextSeq })) {
      fold.fold(record);
      // Asking the clock takes as long as folding the strip.
      const pause = (count += 1) % RECORDS_PER_BREATH === 0 ? breath() : undefined;
      if (pause !== undefined) await pause;
    }
  }

  async #waitForTurn(): Promise<void> {
    if (this.#readCount >= MAX_READING) await new Promise<void>((resolve) => this.#waitingReads.push(resolve));
    this.#readCount += 1;
  }

  #forget(runId: string): void {
    this.#openedRuns.delete(runId);
    this.#listedRuns.delete(runId);
    this.#extras.delete(runId);
  }

  #clear(): void {
    this.#openedRuns.clear();
    this.#listedRuns.clear();
    this.#extras.clear();
  }
}
