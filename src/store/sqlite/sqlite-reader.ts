import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { CoxswainError } from '../../base/error.ts';
import { parseRecord } from '../../records/decode-record.ts';
import type { TrajectoryRecord } from '../../records/trajectory-record.ts';
import type { RunSummary } from '../run-summary.ts';
import { checkSearchQuery, compareHits, toHit, toSearchPage } from '../search-page.ts';
import { isBusy, whileBusy } from '../sqlite-busy.ts';
import { openSqlitePages } from './sqlite-pages.ts';
import { openReadOnly, type ReadOnlyDatabase } from './sqlite-read-only.ts';
import { findSqliteRun, listSqliteRuns, readSqliteRun, type SqliteRead, type SqliteSession } from './sqlite-reads.ts';
import type { SqliteRowChecks } from './sqlite-row-checks.ts';
import { searchSqlite } from './sqlite-search.ts';
import { sqliteBytes } from './sqlite-size.ts';
import { RECORD_COLUMNS, type SqliteRow } from './sqlite-statements.ts';
import { verifySqlite } from './sqlite-verify.ts';
import { storeClosed, toStoreError, type DamagedPlace } from '../store-error.ts';
import type {
  LiveReader,
  ReadQuery,
  RunPage,
  RunQuery,
  SearchHit,
  SearchPage,
  SearchQuery,
  StoreProblem,
} from '../trajectory-store.ts';

const DEFAULT_TIMEOUT_MS = 1_000;
const OPEN_WAIT_MS = 100;
const MAX_CHANGED = 1_000;

/** Records that no writer has indexed and that a search looks through: the latest, in pieces, and at most so many hits. */
const MAX_SCANNED = 200_000;
const SCAN_RECORDS = 5_000;
const MAX_SCAN_HITS = 10_000;

/** What was found among the records that are not in the index. */
interface Scan {
  /** Of the state of the file, and the query. */
  readonly key: string;
  readonly hits: readonly SearchHit[];
  readonly damaged: readonly DamagedPlace[];
  readonly notSearched: number;
}

/** How far a file was looked through. */
interface SeenState {
  readonly version: string;
  readonly lastId: number;
  /** Changes with each deletion. */
  readonly removals: string;
}

/**
 * Opens a SQLite store that is there for reading only: nothing in its folder moves (`openReadOnly`), so media and folders that
 * cannot be written to do as well. Nothing is made or indexed; of the records that no writer has indexed, a search looks
 * through the latest 200,000, and `notIndexed` counts the others. (A word written in compatibility forms, such as full width, is
 * found there only among words that have other letters.)
 *
 * @param options  `timeoutMs`: how long a call waits for a lock; default 1,000
 * @throws CoxswainError `store-io` when the file is not there or cannot be opened, `store-version` when it is no store, or of another
 *   layout, `store-schema` when it holds anything else, `store-damaged`
 */
export function openSqliteReader(file: string, options: { readonly timeoutMs?: number } = {}): LiveReader {
  const path = resolve(file);
  const { timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  return new Reader(path, timeoutMs);
}

class Reader implements LiveReader {
  readonly #path: string;
  readonly #timeoutMs: number;
  #open: ReadOnlyDatabase;
  /** How often the file was opened again: a number of SQLite's is good for one opening. */
  #openings = 1;
  #seen: SeenState | undefined;
  #scan: Scan | undefined;

  constructor(path: string, timeoutMs: number) {
    this.#path = path;
    this.#timeoutMs = timeoutMs;
    this.#open = this.#openFile();
  }

  async listRuns(query?: RunQuery): Promise<RunPage> {
    return await listSqliteRuns(this.#read, query);
  }

  async findRun(runId: string): Promise<RunSummary | undefined> {
    return await findSqliteRun(this.#read, runId);
  }

  readRun(runId: string, query?: ReadQuery): AsyncGenerator<TrajectoryRecord, void, void> {
    return readSqliteRun(this.#read, runId, query);
  }

  async sizeOf(): Promise<number> {
    return await this.#read('look at the size of', ({ database }) => sqliteBytes(database));
  }

  async *verify(): AsyncGenerator<StoreProblem, void, void> {
    yield* verifySqlite(this.#read);
    yield* await this.#read('look at the log of', () => checkLog(this.#path));
  }

  async search(query: SearchQuery): Promise<SearchPage> {
    const checked = checkSearchQuery(query);
    const { after, limit, runId, kinds } = checked;
    const rest = await this.#scanned(query.text, checked.phrases);
    const { hits: indexed, damaged } = await this.#read('search', (session) => searchSqlite(session, checked));
    const seen = new Set(indexed.map((hit) => `${hit.seq} ${hit.runId}`));
    const found = rest.hits.filter(
      (hit) =>
        (after === undefined || compareHits(after, hit) < 0) &&
        (runId === undefined || hit.runId === runId) &&
        (kinds === undefined || kinds.includes(hit.kind)) &&
        !seen.has(`${hit.seq} ${hit.runId}`),
    );
    const hits = found.length === 0 ? indexed : [...indexed, ...found].sort(compareHits).slice(0, limit + 1);
    return toSearchPage(hits, limit, { notIndexed: rest.notSearched, damaged: [...damaged, ...rest.damaged] });
  }

  async changes(): Promise<readonly string[] | undefined> {
    return await this.#read('look at', ({ database }) => {
      const version = this.#versionOf(database);
      const before = this.#seen;
      if (before?.version === version) return [];
      const row = database.prepare(STATE).get() ?? {};
      const seen = { version, lastId: Number(row['last_id']), removals: String(row['removals']) };
      this.#seen = seen;
      if (before === undefined || before.removals !== seen.removals || seen.lastId < before.lastId) return undefined;
      const rows = database.prepare(CHANGED).all(before.lastId, MAX_CHANGED + 1);
      return rows.length > MAX_CHANGED ? undefined : rows.map((changed) => String(changed['run_id']));
    });
  }

  async close(): Promise<void> {
    this.#open.close();
  }

  /** Looks through the latest records that no writer has indexed, a piece at a time. */
  async #scanned(text: string, phrases: readonly (readonly string[])[]): Promise<Scan> {
    const { version, lastId, throughId } = await this.#read('search', ({ database }) => {
      const row = database.prepare(INDEXED).get() ?? {};
      return {
        version: this.#versionOf(database),
        lastId: Number(row['last_id']),
        throughId: Number(row['through_id']),
      };
    });
    const key = `${version} ${text}`;
    if (this.#scan?.key === key) return this.#scan;
    const fromId = Math.max(throughId, lastId - MAX_SCANNED);
    const hits: SearchHit[] = [];
    const damaged: DamagedPlace[] = [];
    for (let id = lastId; id > fromId && hits.length < MAX_SCAN_HITS; id -= SCAN_RECORDS) {
      const found = await this.#read('search', ({ checks, database }) =>
        database
          .prepare(SCAN)
          .all(Math.max(fromId, id - SCAN_RECORDS), id, wordLike(phrases))
          .map((row) => hitOf(checks, row, phrases)),
      );
      for (const one of found) {
        if (one === undefined) continue;
        if ('snippet' in one) hits.push(one);
        else damaged.push(one);
      }
      await nextTurn();
    }
    this.#scan = { key, hits, damaged, notSearched: Math.max(0, fromId - throughId) };
    return this.#scan;
  }

  /** Another text whenever the file has changed. */
  #versionOf(database: DatabaseSync): string {
    return `${this.#openings} ${String(database.prepare('PRAGMA data_version').get()?.['data_version'])}`;
  }

  #openFile(): ReadOnlyDatabase {
    // SQLite would wait on the calling thread, so for long nothing is waited for here.
    return openReadOnly(this.#path, { timeoutMs: Math.min(this.#timeoutMs, OPEN_WAIT_MS) });
  }

  readonly #read: SqliteRead = async (doing, work) => {
    try {
      return await whileBusy(() => this.#readOnce(work), this.#timeoutMs);
    } catch (thrown) {
      throw toStoreError(thrown, `${doing} ${this.#path}`);
    }
  };

  /** Reads again for as long as somebody writes to a file that was taken for one at rest. */
  #readOnce<Result>(work: (session: SqliteSession) => Result): Result {
    for (;;) {
      const { session } = this.#open;
      if (!session.database.isOpen) throw storeClosed();
      let fault: { readonly thrown: unknown } | undefined;
      let result: Result | undefined;
      try {
        result = work(session);
      } catch (thrown) {
        fault = { thrown };
      }
      if (this.#open.isCurrent()) {
        if (fault !== undefined) throw fault.thrown;
        // `work` returned.
        return result as Result;
      }
      const opened = this.#openFile();
      this.#open.close();
      this.#open = opened;
      this.#openings += 1;
    }
  }
}

/**
 * What SQLite itself does not tell: it takes a damaged log for one that ends there. One commit may be there that was never
 * acknowledged, of a writer that is at work or was killed.
 */
function checkLog(path: string): readonly StoreProblem[] {
  const pages = openSqlitePages(path);
  const lost = pages.lostCommits - 1;
  pages.close();
  if (lost < 1) return [];
  const problem = `the log is damaged; ${lost} or more commits behind that place are not read`;
  return [{ place: `${path}-wal`, problem }];
}

const STATE =
  'SELECT (SELECT coalesce(max(id), 0) FROM records) AS last_id, ' +
  "(SELECT removals FROM indexing) || ' ' || (SELECT count(*) FROM removed_runs) AS removals";
const CHANGED = 'SELECT DISTINCT run_id FROM records WHERE id > ? LIMIT ?';
const INDEXED = 'SELECT through_id, (SELECT coalesce(max(id), 0) FROM records) AS last_id FROM indexing';

const SCAN =
  `SELECT ${RECORD_COLUMNS} FROM records WHERE id > ? AND id <= ? AND json LIKE ? ESCAPE '!' ` +
  'AND NOT EXISTS (SELECT 1 FROM removed_runs WHERE removed_runs.run_id = records.run_id) ORDER BY id DESC';

/** A pattern that every record with the longest plain word of a query fits: it spares decoding most of them. */
function wordLike(phrases: readonly (readonly string[])[]): string {
  const plain = phrases.flat().filter((word) => /^[a-z0-9]+$/.test(word));
  const longest = plain.toSorted((a, b) => b.length - a.length)[0];
  return longest === undefined ? '%' : `%${longest}%`;
}

/** The hit, undefined for a record that does not hold the words, or the place of one that is damaged. */
function hitOf(
  checks: SqliteRowChecks,
  row: SqliteRow,
  phrases: readonly (readonly string[])[],
): SearchHit | DamagedPlace | undefined {
  try {
    return toHit(parseRecord(checks.record(row).json), phrases);
  } catch (thrown) {
    if (thrown instanceof CoxswainError) return { runId: String(row['run_id']), seq: Number(row['seq']) };
    throw thrown;
  }
}

/** True when another process holds a lock that a read waited for in vain. */
export function isLocked(thrown: unknown): boolean {
  return thrown instanceof Error && (isBusy(thrown) || isBusy(thrown.cause));
}
