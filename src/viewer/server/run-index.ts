import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { deflateSync, inflateSync } from 'node:zlib';

import { hashText } from '../../core/base/hash.ts';
import { defaultDetectors } from '../../core/detect/detectors/default-detectors.ts';
import type { RunSummary } from '../../core/facts/run-summary.ts';
import type { Overview, RunExtras, RunRow } from './api-shapes.ts';
import { RunRows } from './run-rows.ts';
import type { KnownTimeline } from './run-overview-fold.ts';

/** Increase this number when `RunExtras`, `Overview` or their computation changes. Rows of other layouts are not read. */
const LAYOUT = 13;
/** Number of rows written per batch. */
const BATCH_ROWS = 500;
/** Maximum time that a row waits for its batch. */
const BATCH_MS = 1_000;
/** Maximum number of cached timelines. Each takes about 100 KB. */
const MAX_TIMELINES = 200;

/** The extras of a run at one state of the run. */
export interface IndexedRun {
  readonly fingerprint: string;
  readonly extras: RunExtras;
}

/** Returns a fingerprint of the run's state, computed from its row in the store. */
export function fingerprintOf(run: RunSummary): string {
  return hashText(JSON.stringify(run));
}

/**
 * Caches the extras of runs and the timelines of long runs across restarts, in a SQLite file of the user's cache folder. A row is valid as long as the run's state
 * (`fingerprintOf`) and the detectors are unchanged. If the file fails, the viewer works without the cache.
 */
export class RunIndex {
  readonly #source: string;
  #database: DatabaseSync | undefined;
  #waitingRows = new Map<string, IndexedRun>();
  #timer: NodeJS.Timeout | undefined;

  /** @param folder  created if missing, readable only by its owner; undefined: no cache */
  constructor(folder: string | undefined, sourcePath: string) {
    this.#source = hashText(`${LAYOUT} ${sourcePath} ${JSON.stringify(defaultDetectors())}`);
    this.#database = folder === undefined ? undefined : openDatabase(folder);
  }

  /** Returns all rows of the source, keyed by run id. */
  loadExtras(): Map<string, IndexedRun> {
    const runs = new Map<string, IndexedRun>();
    this.#useDatabase((database) => {
      const rows = database.prepare('SELECT run_id, print, extras FROM runs WHERE source = ?').iterate(this.#source);
      for (const row of rows) {
        // `#writeBatch` stores the same shape. Rows of another layout have another source key.
        const extras = JSON.parse(String(row['extras'])) as RunExtras;
        runs.set(String(row['run_id']), { fingerprint: String(row['print']), extras });
      }
    });
    return runs;
  }

  /** Returns the cached timeline and calls of a run in this state. */
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

  /** Stores the timeline and the calls of a run that was read to its end. */
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

  /** Stores the extras of a run. Rows are written in batches. */
  storeExtras(run: RunSummary, extras: RunExtras): void {
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
