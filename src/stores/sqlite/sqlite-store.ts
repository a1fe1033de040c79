import { resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { checkMembers } from '../../core/base/check-members.ts';
import { invalidArgument } from '../../core/base/error.ts';
import { projectStoreFile } from '../../core/node/git-folder.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { checkBatch, checkRunId, isRunId } from '../../core/store/check-batch.ts';
import { checkSearchQuery, toSearchPage, storedKind, wordsIn } from '../../core/store/search-page.ts';
import { isBusy, shownAddress, storePath, whileBusy } from '../store-address.ts';
import { openSqliteDatabase } from './sqlite-database.ts';
import { searchSqlite } from './sqlite-search.ts';
import type { RunSummary } from '../../core/facts/run-summary.ts';
import { SqliteRuns } from './sqlite-runs.ts';
import {
  createSqliteSession,
  findSqliteRun,
  listSqliteRuns,
  readSqliteRun,
  sqliteBytes,
  type SqliteRead,
  type SqliteSession,
} from './sqlite-reads.ts';
import { verifySqlite } from './sqlite-verify.ts';
import { SqliteWriteQueue } from './sqlite-write-queue.ts';
import { storeClosed, toStoreError } from '../../core/store/store-error.ts';
import type {
  ReadQuery,
  RunChange,
  RunPage,
  RunQuery,
  SearchHit,
  SearchPage,
  SearchQuery,
  StoredRun,
  StoreProblem,
  TrajectoryStore,
} from '../../core/store/trajectory-store.ts';
import { systemClock } from '../../core/base/clock.ts';
import { parseRecord } from '../../core/records/decode-record.ts';
import { recordText } from '../../core/store/run-check.ts';
import type { SqliteRowChecks } from './sqlite-row-checks.ts';
import { lazyStatements, RECORD_COLUMNS, type SqliteRow, type Statements } from './sqlite-statements.ts';

/** Records per batch at most, and the milliseconds spent on finding their words; writing them takes as long. */
const BATCH_RECORDS = 256;
const BATCH_MS = 2;

/** Pause between batches while this process appends, and otherwise: then an eighth to a quarter of a core. */
const BUSY_PAUSE_MS = 250;
const QUIET_PAUSE_MS = 15;
/** Milliseconds without an append after which the process counts as quiet. */
const QUIET_AFTER_MS = 250;
/** Pause in milliseconds when no record is missing or another process indexes. */
const IDLE_PAUSE_MS = 1000;
/** Time in milliseconds for which a process that indexed a batch may continue indexing. */
const LEASE_MS = 2000;

const SQL = {
  readState:
    'SELECT through_id, removals, owner, until_ms, (SELECT coalesce(max(id), 0) FROM records) AS last_id FROM indexing',
  saveState: 'UPDATE indexing SET through_id = ?, owner = ?, until_ms = ?',
  readAfter: `SELECT ${RECORD_COLUMNS} FROM records WHERE id > ? ORDER BY records.id LIMIT ?`,
  insertWords: 'INSERT INTO record_words (rowid, words) VALUES (?, ?)',
  insertPlace: 'INSERT INTO indexed_records (id, minus_at_ms, run_id, minus_seq, kind) VALUES (?, ?, ?, ?, ?)',
};

interface WordIndexOptions {
  lastWriteMs(): number;
  /** `PRAGMA synchronous` outside of indexing. */
  readonly synchronous: 'FULL' | 'NORMAL';
}

interface IndexState {
  readonly throughId: number;
  readonly removals: number;
  readonly lastId: number;
  /** True if another process indexes. */
  readonly isOwnedElsewhere: boolean;
}

/** In batches of milliseconds, by one of the processes, without keeping it alive. Entries lost in a power cut are indexed again. */
class SqliteWordIndex {
  readonly #session: SqliteSession;
  readonly #options: WordIndexOptions;
  readonly #owner = globalThis.crypto.randomUUID();
  readonly #statements: Statements<keyof typeof SQL>;
  #timer: NodeJS.Timeout | undefined;

  constructor(session: SqliteSession, options: WordIndexOptions) {
    this.#session = session;
    this.#options = options;
    this.#statements = lazyStatements(session.database, SQL);
    this.#schedule(IDLE_PAUSE_MS);
  }

  countMissing(): number {
    const { lastId, throughId } = this.#readState();
    return Math.max(0, lastId - throughId);
  }

  /** Indexes missing records for about `budgetMs`, without waiting for other processes. */
  async catchUp(budgetMs: number): Promise<void> {
    const endMs = performance.now() + budgetMs;
    while (this.#session.database.isOpen && this.countMissing() > 0 && performance.now() < endMs) {
      this.#indexBatch();
      await nextTurn();
    }
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #schedule(pauseMs: number): void {
    this.#timer = setTimeout(() => this.#schedule(this.#indexIfDue()), pauseMs).unref();
  }

  /** Indexes one batch if it is this process's turn. Returns the pause before the next. */
  #indexIfDue(): number {
    try {
      const { isOwnedElsewhere, lastId, throughId } = this.#readState();
      if (isOwnedElsewhere || lastId <= throughId) return IDLE_PAUSE_MS;
      const isQuiet = performance.now() - this.#options.lastWriteMs() > QUIET_AFTER_MS;
      return this.#indexBatch() && isQuiet ? QUIET_PAUSE_MS : BUSY_PAUSE_MS;
    } catch {
      // No caller waits for this batch. A permanent fault appears in the next append or search.
      return IDLE_PAUSE_MS;
    }
  }

  #indexBatch(): boolean {
    const { insertPlace, insertWords, readAfter, saveState } = this.#statements;
    const stateBefore = this.#readState();
    const endMs = performance.now() + BATCH_MS;
    const entries: IndexEntry[] = [];
    let lastId: number | undefined;
    for (const row of readAfter.iterate(stateBefore.throughId, BATCH_RECORDS)) {
      lastId = Number(row['id']);
      const entry = toEntry(this.#session.checks, row);
      if (entry !== undefined) entries.push(entry);
      if (performance.now() >= endMs) break;
    }
    if (lastId === undefined) return false;
    const throughId = lastId;
    return this.#transact(() => {
      const stateNow = this.#readState();
      if (stateNow.throughId !== stateBefore.throughId || stateNow.removals !== stateBefore.removals) return false;
      for (const { id, words, atMs, runId, seq, kind } of entries) {
        insertWords.run(id, words);
        insertPlace.run(id, -atMs, runId, -seq, kind);
      }
      saveState.run(throughId, this.#owner, systemClock.nowMs() + LEASE_MS);
      return true;
    });
  }

  #transact(work: () => boolean): boolean {
    const { database } = this.#session;
    try {
      database.exec('PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE');
      const isCommitted = work();
      database.exec('COMMIT');
      return isCommitted;
    } catch (thrown) {
      if (database.isTransaction) database.exec('ROLLBACK');
      if (isBusy(thrown)) return false;
      throw thrown;
    } finally {
      database.exec(`PRAGMA synchronous = ${this.#options.synchronous}`);
    }
  }

  #readState(): IndexState {
    const row = this.#statements.readState.get() ?? {};
    const hasOtherOwner = row['owner'] !== this.#owner;
    return {
      throughId: Number(row['through_id']),
      removals: Number(row['removals']),
      lastId: Number(row['last_id']),
      isOwnedElsewhere: hasOtherOwner && Number(row['until_ms']) > systemClock.nowMs(),
    };
  }
}

interface IndexEntry extends Omit<SearchHit, 'snippet'> {
  readonly id: number;
  readonly words: string;
}

function toEntry(checks: SqliteRowChecks, row: SqliteRow): IndexEntry | undefined {
  try {
    const { runId, seq, json } = checks.record(row);
    const record = parseRecord(json);
    return {
      id: Number(row['id']),
      words: wordsIn(recordText(record)).words.join(' '),
      atMs: record.recorded_at_unix_ms,
      runId,
      seq,
      kind: storedKind(record),
    };
  } catch {
    return undefined;
  }
}

export interface SqliteStoreOptions {
  /** Maximum time in milliseconds that a call waits for transactions of other processes; default 5,000. */
  readonly timeoutMs?: number;
  /**
   * When an append is on disk:
   * - `group` (default): before it resolves; concurrent appends share a transaction and a sync. A power cut loses nothing
   *   acknowledged.
   * - `each`: the same, with one transaction and sync per append.
   * - `none`: at SQLite's next checkpoint, after about 4 MB or at `close`. A power cut may lose what was written since then, from
   *   the end, and leaves a valid file. A crash of the process loses nothing.
   */
  readonly fsync?: 'group' | 'each' | 'none';
}

const DEFAULT_TIMEOUT_MS = 5000;
/** Maximum time in milliseconds that a search indexes missing records before it answers. */
const SEARCH_INDEXING_MS = 150;
/** Removed records per step that rewrites the word index; at this rate it keeps up with deletions. */
const RECORDS_A_MERGE = 50;

/**
 * A store in one SQLite file (with `-wal` and `-shm` next to it), through `node:sqlite`. Many processes may use one file at a
 * time. A missing file or folder is created, for its owner only.
 *
 * Durability: see `fsync`. An append waits for other writing processes without blocking the event loop.
 *
 * Search: one of the processes that have the store open fills a full-text index in the background, a few milliseconds at a time;
 * `search` first indexes missing records for up to 150 ms, and reports how many are left.
 *
 * Cost: the writes of one turn of the event loop are one transaction on the calling thread. `listRuns` and `readRun` use an
 * index and cost as much as they return. `deleteRun` removes about 10,000 records per second between other writes, a few
 * milliseconds at a time. `sizeOf` counts the pages in use. `search` looks at each record that contains the words.
 *
 * @param file  path of the database; SQLite's in-memory names are refused, use `memoryStore()`
 * @throws CoxswainError `store-version` if SQLite is older than 3.51.3 or this version cannot read the file, `store-io` if it
 *   cannot be opened, `invalid-argument` for an option out of range
 */
export function sqliteStore(file: string, options: SqliteStoreOptions = {}): TrajectoryStore {
  checkMembers('sqliteStore', options, { timeoutMs: true, fsync: true });
  const { timeoutMs = DEFAULT_TIMEOUT_MS, fsync = 'group' } = options;
  if (!Number.isInteger(timeoutMs) || timeoutMs < 0 || timeoutMs > 2 ** 31 - 1) {
    throw invalidArgument(`timeoutMs must be a whole number from 0, got ${timeoutMs}`);
  }
  if (!['group', 'each', 'none'].includes(fsync)) {
    throw invalidArgument(`fsync must be group, each or none, got ${JSON.stringify(fsync)}`);
  }
  if (typeof file !== 'string' || file === '' || file.startsWith(':') || file.startsWith('file:')) {
    throw invalidArgument(`a SQLite store needs the path of a file, got ${JSON.stringify(file)}`);
  }
  return new SqliteStore(resolve(file), { timeoutMs, fsync });
}

/**
 * The store of the project of the working folder, as the command line has it: the file that `COXSWAIN_STORE` names, else the file of
 * the project in the user's data folder. All work trees of a repository share it. It reads no configuration: a `store.address`
 * there is for the hook and the command line, and `openStore` opens the same address.
 *
 * @throws CoxswainError as `sqliteStore`, also for a `COXSWAIN_STORE` that is no file, and `unsafe-path` if another user can write
 *   to the data folder
 */
export function projectStore(options: SqliteStoreOptions = {}): TrajectoryStore {
  const { COXSWAIN_STORE: named = '' } = process.env;
  if (named === '') return sqliteStore(projectStoreFile(process.cwd(), { env: process.env }), options);
  const path = storePath(named);
  if (path === undefined)
    throw invalidArgument(`COXSWAIN_STORE is no file: open it with openStore, got ${shownAddress(named)}`);
  return sqliteStore(path, options);
}

class SqliteStore implements TrajectoryStore {
  readonly #path: string;
  readonly #timeoutMs: number;
  readonly #session: SqliteSession;
  readonly #runs: SqliteRuns;
  readonly #writes: SqliteWriteQueue;
  readonly #index: SqliteWordIndex;
  #closing: Promise<void> | undefined;

  constructor(path: string, { timeoutMs, fsync }: Required<SqliteStoreOptions>) {
    const synchronous = fsync === 'none' ? 'NORMAL' : 'FULL';
    const database = openSqliteDatabase(path, { timeoutMs, synchronous });
    this.#path = path;
    this.#timeoutMs = timeoutMs;
    this.#session = createSqliteSession(database);
    this.#runs = new SqliteRuns(this.#session, path);
    this.#writes = new SqliteWriteQueue(database, { timeoutMs, isGrouped: fsync !== 'each' });
    this.#index = new SqliteWordIndex(this.#session, { synchronous, lastWriteMs: () => this.#writes.lastWriteMs });
  }

  async append(batch: readonly TrajectoryRecord[]): Promise<number> {
    this.#requireOpen();
    const checkedBatch = checkBatch(batch);
    return await this.#write('append to', () => {
      const plan = this.#runs.planAppend(checkedBatch);
      return () => this.#runs.storePlan(plan);
    });
  }

  async transact<Result>(runId: string, fold: (view: StoredRun) => RunChange<Result>): Promise<Result> {
    this.#requireOpen();
    checkRunId(runId);
    let foldFault: { readonly thrown: unknown } | undefined;
    const plan = (): (() => Result) =>
      this.#runs.planTransaction(runId, (view) => {
        foldFault = undefined;
        try {
          return fold(view);
        } catch (thrown) {
          foldFault = { thrown };
          throw thrown;
        }
      });
    return await this.#write('write to', plan).catch((thrown: unknown) => {
      throw foldFault === undefined ? thrown : foldFault.thrown;
    });
  }

  async flush(): Promise<void> {
    this.#requireOpen();
    await this.#writes.drain();
  }

  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async listRuns(query?: RunQuery): Promise<RunPage> {
    this.#requireOpen();
    return await listSqliteRuns(this.#read, query);
  }

  /** Hides the run. Then deletes its rows and those of earlier deletions, rewrites the word index, and shrinks the file. */
  async deleteRun(runId: string): Promise<boolean> {
    this.#requireOpen();
    if (!isRunId(runId)) return false;
    const { removals } = this.#session;
    const write = <Result>(work: () => Result): Promise<Result> => this.#write('delete a run of', () => work);
    const isClosing = (): boolean => this.#closing !== undefined;
    const wasStored = await write(() => removals.hide(runId));
    let removedCount = 0;
    // After a close, the next deletion does the remaining work.
    while (!isClosing()) {
      const removedRecords = await write(() => removals.deleteStep());
      if (removedRecords === undefined) break;
      removedCount += removedRecords;
    }
    let mergesLeft = Math.ceil(removedCount / RECORDS_A_MERGE);
    while (mergesLeft > 0 && !isClosing() && (await write(() => removals.mergeIndex()))) mergesLeft -= 1;
    while (!isClosing() && (await write(() => removals.shrink()))) continue;
    return wasStored;
  }

  async sizeOf(): Promise<number> {
    this.#requireOpen();
    return await this.#read('read the size of', ({ database }) => sqliteBytes(database));
  }

  async findRun(runId: string): Promise<RunSummary | undefined> {
    this.#requireOpen();
    return await findSqliteRun(this.#read, runId);
  }

  async *readRun(runId: string, query?: ReadQuery): AsyncGenerator<TrajectoryRecord, void, void> {
    this.#requireOpen();
    for await (const record of readSqliteRun(this.#read, runId, query)) {
      yield record;
      this.#requireOpen();
    }
  }

  async search(query: SearchQuery): Promise<SearchPage> {
    this.#requireOpen();
    const checkedQuery = checkSearchQuery(query);
    await this.#writes.drain();
    this.#requireOpen();
    await this.#index.catchUp(SEARCH_INDEXING_MS);
    this.#requireOpen();
    return await this.#read('search', (session) => {
      const { hits, damaged } = searchSqlite(session, checkedQuery);
      return toSearchPage(hits, checkedQuery.limit, { notIndexed: this.#index.countMissing(), damaged });
    });
  }

  async *verify(): AsyncGenerator<StoreProblem, void, void> {
    this.#requireOpen();
    for await (const problem of verifySqlite(this.#read)) {
      yield problem;
      this.#requireOpen();
    }
  }

  async #close(): Promise<void> {
    this.#index.close();
    await this.#writes.drain();
    try {
      this.#session.database.close();
    } catch (thrown) {
      throw toStoreError(thrown, `close ${this.#path}`);
    }
  }

  async #write<Result>(action: string, plan: () => () => Result): Promise<Result> {
    try {
      return await this.#writes.write(plan);
    } catch (thrown) {
      throw toStoreError(thrown, `${action} ${this.#path}`);
    }
  }

  readonly #read: SqliteRead = async (action, work) => {
    try {
      return await whileBusy(() => {
        this.#requireOpen();
        return work(this.#session);
      }, this.#timeoutMs);
    } catch (thrown) {
      throw toStoreError(thrown, `${action} ${this.#path}`);
    }
  };

  #requireOpen(): void {
    if (this.#closing !== undefined) throw storeClosed();
  }
}
