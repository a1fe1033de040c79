import { resolve } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { CoxswainError } from '../base/error.ts';
import { parseRecord } from '../events/decode-record.ts';
import type { TrajectoryRecord } from '../events/trajectory-record.ts';
import { isRunId } from './check-batch.ts';
import { checkReadQuery } from './check-read-query.ts';
import { checkRunQuery, toRunPage } from './run-page.ts';
import { refuseLinks } from './records-folder.ts';
import type { RunSummary } from './run-summary.ts';
import { checkSearchQuery, compareHits, toHit, toSearchPage } from './search-page.ts';
import { isBusy, whileBusy } from './sqlite-busy.ts';
import { layoutOf, NEWEST_LAYOUT } from './sqlite-migrations.ts';
import { searchSqlite } from './sqlite-search.ts';
import { prepareSqliteStatements, toRecordRow, toSummary, type SqliteStatements } from './sqlite-statements.ts';
import { storeClosed, toStoreError } from './store-error.ts';
import type {
  ReadQuery,
  RunPage,
  RunQuery,
  SearchHit,
  SearchPage,
  SearchQuery,
  TrajectoryStore,
} from './trajectory-store.ts';

/** The half of a store that only reads. */
export type StoreReader = Pick<TrajectoryStore, 'listRuns' | 'findRun' | 'readRun' | 'search' | 'close'>;

/** A reader that tells what was written since it last looked. */
export interface SqliteReader extends StoreReader {
  /**
   * Ids of the runs that were written to since the last call, or undefined when anything may have changed: at the first call,
   * after a deletion, or when there are more than 1,000. A run may be named that did not change.
   *
   * @throws CoxswainError `store-io` and `store-closed`
   * Cost: one number where nothing was written.
   */
  changes(): Promise<readonly string[] | undefined>;
}

const CHARS_A_PAGE = 1024 * 1024;
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
  readonly notSearched: number;
}

/** How far a file was looked through. */
interface SeenState {
  readonly dataVersion: number;
  readonly lastId: number;
  /** Changes with each deletion. */
  readonly removals: string;
}

/**
 * Opens a SQLite store that is there for reading only: SQLite itself refuses every write through it. Nothing is made, brought up
 * to date or indexed; of the records that no writer has indexed, a search looks through the latest 200,000, and `notIndexed` counts
 * the others. (A word written in compatibility forms, such as full width, is found there only among words that have other letters.)
 *
 * Reads as `sqliteStore` does, page by page, so that no read keeps a writer's log from being moved for longer than a page.
 *
 * @param options  `timeoutMs`: how long a call waits for a lock; default 1,000
 * @throws CoxswainError `store-io` when the file is not there or cannot be opened, `store-version` when it is no store, or of a
 *   layout that this version does not read as it is
 */
export function openSqliteReader(file: string, options: { readonly timeoutMs?: number } = {}): SqliteReader {
  const path = resolve(file);
  const { timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  let database: DatabaseSync | undefined;
  try {
    refuseLinks(path);
    // SQLite would wait on the calling thread, so for long nothing is waited for here.
    database = new DatabaseSync(path, { readOnly: true, timeout: Math.min(timeoutMs, OPEN_WAIT_MS) });
    requireLayout(database, path);
    database.exec('PRAGMA busy_timeout = 0');
    return new Reader(path, database, timeoutMs);
  } catch (thrown) {
    if (database?.isOpen === true) database.close();
    if (isNotADatabase(thrown)) {
      throw new CoxswainError('store-version', `${path} is not an SQLite database; give the file of a store`, {
        cause: thrown,
      });
    }
    throw toStoreError(thrown, `open ${path}`);
  }
}

class Reader implements SqliteReader {
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #timeoutMs: number;
  readonly #statements: SqliteStatements;
  #state: StatementSync | undefined;
  #changed: StatementSync | undefined;
  #seen: SeenState | undefined;
  #scan: Scan | undefined;

  constructor(path: string, database: DatabaseSync, timeoutMs: number) {
    this.#path = path;
    this.#database = database;
    this.#timeoutMs = timeoutMs;
    this.#statements = prepareSqliteStatements(database);
  }

  async listRuns(query?: RunQuery): Promise<RunPage> {
    const { limit, after } = checkRunQuery(query);
    const place = after === undefined ? ([-Infinity, ''] as const) : ([-after.startedAtMs, after.runId] as const);
    const rows = await this.#read('list', () => this.#statements.listRuns.all(...place, limit + 1));
    return toRunPage(rows.map(toSummary), limit);
  }

  async findRun(runId: string): Promise<RunSummary | undefined> {
    if (!isRunId(runId)) return undefined;
    const row = await this.#read('read', () => this.#statements.findRun.get(runId));
    return row === undefined ? undefined : toSummary(row);
  }

  async *readRun(runId: string, query?: ReadQuery): AsyncGenerator<TrajectoryRecord, void, void> {
    const { fromSeq, limit } = checkReadQuery(query);
    if (!isRunId(runId)) return;
    let nextSeq = fromSeq;
    let left = limit;
    while (left > 0) {
      const { isLast, rows } = await this.#read('read', () => this.#readPage(runId, nextSeq, left));
      for (const json of rows) {
        const record = parseRecord(json);
        nextSeq = record.seq + 1;
        left -= 1;
        yield record;
      }
      if (isLast) return;
      await nextTurn();
    }
  }

  async search(query: SearchQuery): Promise<SearchPage> {
    const checked = checkSearchQuery(query);
    const { after, limit, runId, kinds } = checked;
    const rest = await this.#scanned(query.text, checked.phrases);
    const indexed = await this.#read('search', () => searchSqlite(this.#database, checked));
    const seen = new Set(indexed.map((hit) => `${hit.seq} ${hit.runId}`));
    const found = rest.hits.filter(
      (hit) =>
        (after === undefined || compareHits(after, hit) < 0) &&
        (runId === undefined || hit.runId === runId) &&
        (kinds === undefined || kinds.includes(hit.kind)) &&
        !seen.has(`${hit.seq} ${hit.runId}`),
    );
    const hits = found.length === 0 ? indexed : [...indexed, ...found].sort(compareHits).slice(0, limit + 1);
    return toSearchPage(hits, limit, rest.notSearched);
  }

  async changes(): Promise<readonly string[] | undefined> {
    return await this.#read('look at', () => {
      const dataVersion = this.#dataVersion();
      const before = this.#seen;
      if (before?.dataVersion === dataVersion) return [];
      this.#state ??= this.#database.prepare(STATE);
      const row = this.#state.get() ?? {};
      const seen = { dataVersion, lastId: Number(row['last_id']), removals: String(row['removals']) };
      this.#seen = seen;
      if (before === undefined || before.removals !== seen.removals || seen.lastId < before.lastId) return undefined;
      this.#changed ??= this.#database.prepare(CHANGED);
      const rows = this.#changed.all(before.lastId, MAX_CHANGED + 1);
      return rows.length > MAX_CHANGED ? undefined : rows.map((changed) => String(changed['run_id']));
    });
  }

  async close(): Promise<void> {
    if (this.#database.isOpen) this.#database.close();
  }

  /** Looks through the latest records that no writer has indexed, a piece at a time. */
  async #scanned(text: string, phrases: readonly (readonly string[])[]): Promise<Scan> {
    const { dataVersion, lastId, throughId } = await this.#read('search', () => {
      const row = this.#database.prepare(INDEXED).get() ?? {};
      return { dataVersion: this.#dataVersion(), lastId: Number(row['last_id']), throughId: Number(row['through_id']) };
    });
    const key = `${dataVersion} ${text}`;
    if (this.#scan?.key === key) return this.#scan;
    const fromId = Math.max(throughId, lastId - MAX_SCANNED);
    const hits: SearchHit[] = [];
    for (let id = lastId; id > fromId && hits.length < MAX_SCAN_HITS; id -= SCAN_RECORDS) {
      const rows = await this.#read('search', () =>
        this.#database.prepare(SCAN).all(Math.max(fromId, id - SCAN_RECORDS), id, wordLike(phrases)),
      );
      for (const row of rows) {
        const hit = hitOf(String(row['json']), phrases);
        if (hit !== undefined) hits.push(hit);
      }
      await nextTurn();
    }
    this.#scan = { key, hits, notSearched: Math.max(0, fromId - throughId) };
    return this.#scan;
  }

  #dataVersion(): number {
    return Number(this.#database.prepare('PRAGMA data_version').get()?.['data_version']);
  }

  #readPage(
    runId: string,
    fromSeq: number,
    limit: number,
  ): { readonly rows: readonly string[]; readonly isLast: boolean } {
    const rows: string[] = [];
    let chars = 0;
    for (const row of this.#statements.readRecords.iterate(runId, fromSeq, limit)) {
      const { json } = toRecordRow(row);
      rows.push(json);
      chars += json.length;
      if (chars > CHARS_A_PAGE) return { rows, isLast: false };
    }
    return { rows, isLast: true };
  }

  async #read<Result>(doing: string, work: () => Result): Promise<Result> {
    try {
      return await whileBusy(() => {
        if (!this.#database.isOpen) throw storeClosed();
        return work();
      }, this.#timeoutMs);
    } catch (thrown) {
      throw toStoreError(thrown, `${doing} ${this.#path}`);
    }
  }
}

const STATE =
  'SELECT (SELECT coalesce(max(id), 0) FROM records) AS last_id, ' +
  "(SELECT removals FROM indexing) || ' ' || (SELECT count(*) FROM removed_runs) AS removals";
const CHANGED = 'SELECT DISTINCT run_id FROM records WHERE id > ? LIMIT ?';
const INDEXED = 'SELECT through_id, (SELECT coalesce(max(id), 0) FROM records) AS last_id FROM indexing';
const SCAN =
  "SELECT json FROM records WHERE id > ? AND id <= ? AND json LIKE ? ESCAPE '!' " +
  'AND run_id NOT IN (SELECT run_id FROM removed_runs) ORDER BY id DESC';

/** A pattern that every record with the longest plain word of a query fits: it spares decoding most of them. */
function wordLike(phrases: readonly (readonly string[])[]): string {
  const plain = phrases.flat().filter((word) => /^[a-z0-9]+$/.test(word));
  const longest = plain.toSorted((a, b) => b.length - a.length)[0];
  return longest === undefined ? '%' : `%${longest}%`;
}

/** Undefined for a record that does not hold the words, and for one that is damaged. */
function hitOf(json: string, phrases: readonly (readonly string[])[]): SearchHit | undefined {
  try {
    return toHit(parseRecord(json), phrases);
  } catch (thrown) {
    if (thrown instanceof CoxswainError) return undefined;
    throw thrown;
  }
}

/** True when another process holds a lock that a read waited for in vain. */
export function isLocked(thrown: unknown): boolean {
  return thrown instanceof Error && (isBusy(thrown) || isBusy(thrown.cause));
}

function requireLayout(database: DatabaseSync, path: string): void {
  const layout = layoutOf(database, path);
  if (layout === NEWEST_LAYOUT) return;
  const reason = layout === 0 ? 'is empty' : `has the earlier store layout ${layout}`;
  throw new CoxswainError(
    'store-version',
    `${path} ${reason}; it is not changed while it is viewed: let this version open it once, such as with coxswain runs --store`,
    { details: { layout, newest: NEWEST_LAYOUT } },
  );
}

function isNotADatabase(thrown: unknown): boolean {
  const SQLITE_NOTADB = 26;
  return thrown instanceof Error && 'errcode' in thrown && thrown.errcode === SQLITE_NOTADB;
}
