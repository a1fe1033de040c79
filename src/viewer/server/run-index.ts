import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { hashText } from '../../base/hash.ts';
import { defaultDetectors } from '../../patterns/detectors/default-detectors.ts';
import type { RunSummary } from '../../store/run-summary.ts';
import type { RunExtras } from './api-shapes.ts';

/** Rises when `RunExtras` or the way it is worked out changes: rows of other layouts are not read. */
const LAYOUT = 2;
/** Rows that are written at a time. */
const BATCH_ROWS = 500;
/** How long rows wait for others before they are written. */
const BATCH_MS = 1_000;

/** What was seen in a run, and the run that it was seen in. */
export interface IndexedRun {
  readonly print: string;
  readonly extras: RunExtras;
}

/** What tells one state of a run from every other: ids, times, counts and the end, as its row in the store has them. */
export function printOf(run: RunSummary): string {
  return hashText(JSON.stringify(run));
}

/**
 * What was seen in runs, kept across restarts in one SQLite file of the user's cache, never in a store. A row counts as long as the run
 * is what it was (`printOf`) and the detectors are the same. Whatever is wrong with the file, the viewer works without it: then runs
 * are looked at again.
 */
export class RunIndex {
  readonly #source: string;
  #database: DatabaseSync | undefined;
  #waiting = new Map<string, IndexedRun>();
  #timer: NodeJS.Timeout | undefined;

  /** @param folder  made where it is missing, for its owner only; undefined keeps nothing */
  constructor(folder: string | undefined, sourcePath: string) {
    this.#source = hashText(`${LAYOUT} ${sourcePath} ${JSON.stringify(defaultDetectors())}`);
    this.#database = folder === undefined ? undefined : opened(folder);
  }

  /** All that is kept of the source, by run. */
  load(): Map<string, IndexedRun> {
    const runs = new Map<string, IndexedRun>();
    this.#try((database) => {
      const rows = database.prepare('SELECT run_id, print, extras FROM runs WHERE source = ?').iterate(this.#source);
      for (const row of rows) {
        // Written by `#write`, from the shape that it is read as; another layout has another source.
        const extras = JSON.parse(String(row['extras'])) as RunExtras;
        runs.set(String(row['run_id']), { print: String(row['print']), extras });
      }
    });
    return runs;
  }

  /** Keeps what was seen in a run; written a little later, with others. */
  put(runId: string, run: IndexedRun): void {
    if (this.#database === undefined) return;
    this.#waiting.set(runId, run);
    if (this.#waiting.size >= BATCH_ROWS) this.#write();
    else this.#timer ??= setTimeout(() => this.#write(), BATCH_MS).unref();
  }

  close(): void {
    this.#write();
    this.#try((database) => database.close());
    this.#database = undefined;
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const rows = this.#waiting;
    this.#waiting = new Map();
    if (rows.size === 0) return;
    this.#try((database) => {
      const insert = database.prepare('INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?)');
      database.exec('BEGIN IMMEDIATE');
      for (const [runId, { extras, print }] of rows) insert.run(this.#source, runId, print, JSON.stringify(extras));
      database.exec('COMMIT');
    });
  }

  /** A cache that fails is a cache that is not there: nothing depends on it but time. */
  #try(work: (database: DatabaseSync) => void): void {
    try {
      if (this.#database !== undefined) work(this.#database);
    } catch {
      this.#database = undefined;
    }
  }
}

function opened(folder: string): DatabaseSync | undefined {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const file = join(folder, 'viewer-index.db');
    const database = new DatabaseSync(file, { timeout: 500 });
    chmodSync(file, 0o600);
    database.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
       CREATE TABLE IF NOT EXISTS runs (source TEXT, run_id TEXT, print TEXT, extras TEXT, PRIMARY KEY (source, run_id))
       WITHOUT ROWID`,
    );
    return database;
  } catch {
    // As in `#try`.
    return undefined;
  }
}
