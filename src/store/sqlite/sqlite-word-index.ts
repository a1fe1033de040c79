import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { systemClock } from '../../base/clock.ts';
import { parseRecord } from '../../records/decode-record.ts';
import type { TrajectoryRecord } from '../../records/trajectory-record.ts';
import { recordText } from '../record-text.ts';
import { storedKind } from '../search-page.ts';
import { isBusy } from '../sqlite-busy.ts';
import type { SqliteSession } from './sqlite-reads.ts';
import type { RecordRow, SqliteRowChecks } from './sqlite-row-checks.ts';
import { RECORD_COLUMNS, type SqliteRow } from './sqlite-statements.ts';
import { wordsIn } from '../words-in.ts';

/** Most records of a batch, and about the milliseconds that finding their words takes; writing them takes as long. */
const BATCH_RECORDS = 256;
const BATCH_MS = 2;

/** Pauses between batches: while this process appends, and when it does not. Then an eighth to a quarter of a core. */
const BUSY_PAUSE_MS = 250;
const QUIET_PAUSE_MS = 15;
/** How long without an append is quiet. */
const QUIET_AFTER_MS = 250;
/** When nothing is missing, or another process indexes. */
const IDLE_PAUSE_MS = 1000;
/** For how long a process that indexed is the one to go on. */
const LEASE_MS = 2000;

/** What the index has to know of the store. */
export interface WordIndexOptions {
  /** When this process last wrote, on the clock of `performance.now()`. */
  lastWriteMs(): number;
  /** `PRAGMA synchronous` outside of indexing. */
  readonly synchronous: 'FULL' | 'NORMAL';
}

interface IndexState {
  readonly throughId: number;
  readonly removals: number;
  readonly lastId: number;
  /** Whether another process is at it. */
  readonly isTaken: boolean;
}

/**
 * Fills the full-text index behind the appends: small batches on a timer, at a few milliseconds each, in one of the
 * processes that have the store open. The timer keeps no process alive. A batch is not synced to disk; after a
 * power cut what is missing is indexed again.
 */
export class SqliteWordIndex {
  readonly #session: SqliteSession;
  readonly #options: WordIndexOptions;
  readonly #owner = globalThis.crypto.randomUUID();
  #statements: IndexStatements | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(session: SqliteSession, options: WordIndexOptions) {
    this.#session = session;
    this.#options = options;
    this.#schedule(IDLE_PAUSE_MS);
  }

  missing(): number {
    const { lastId, throughId } = this.#state();
    return Math.max(0, lastId - throughId);
  }

  /** Indexes what is missing, for about `budgetMs`; other processes are not waited for. */
  async catchUp(budgetMs: number): Promise<void> {
    const endMs = performance.now() + budgetMs;
    while (this.#session.database.isOpen && this.missing() > 0 && performance.now() < endMs) {
      this.#indexBatch();
      await nextTurn();
    }
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #schedule(pauseMs: number): void {
    this.#timer = setTimeout(() => this.#schedule(this.#tick()), pauseMs).unref();
  }

  /** Indexes one batch where it is this process's turn, and gives the pause until the next. */
  #tick(): number {
    try {
      const { isTaken, lastId, throughId } = this.#state();
      if (isTaken || lastId <= throughId) return IDLE_PAUSE_MS;
      const isQuiet = performance.now() - this.#options.lastWriteMs() > QUIET_AFTER_MS;
      return this.#indexBatch() && isQuiet ? QUIET_PAUSE_MS : BUSY_PAUSE_MS;
    } catch {
      // Nobody waits for this batch. A fault that lasts comes up at the next append or search, which report it.
      return IDLE_PAUSE_MS;
    }
  }

  /** @returns false when another process holds the lock or was faster */
  #indexBatch(): boolean {
    const { insertPlace, insertWords, saveState } = this.#prepared();
    const before = this.#state();
    const rows = this.#readBatch(before.throughId);
    const last = rows.at(-1);
    if (last === undefined) return false;
    return this.#transact(() => {
      const { removals, throughId } = this.#state();
      if (throughId !== before.throughId || removals !== before.removals) return false;
      for (const { entry, id } of rows) {
        if (entry === undefined) continue;
        insertWords.run(id, entry.words);
        insertPlace.run(id, -entry.atMs, entry.runId, -entry.seq, entry.kind);
      }
      saveState.run(last.id, this.#owner, systemClock.nowMs() + LEASE_MS);
      return true;
    });
  }

  #readBatch(afterId: number): readonly { readonly id: number; readonly entry: IndexEntry | undefined }[] {
    const rows: { readonly id: number; readonly entry: IndexEntry | undefined }[] = [];
    const endMs = performance.now() + BATCH_MS;
    for (const row of this.#prepared().readAfter.iterate(afterId, BATCH_RECORDS)) {
      rows.push({ id: Number(row['id']), entry: toEntry(this.#session.checks, row) });
      if (performance.now() >= endMs) break;
    }
    return rows;
  }

  #transact(work: () => boolean): boolean {
    const { synchronous } = this.#options;
    try {
      this.#session.database.exec('PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE');
      const isDone = work();
      this.#session.database.exec('COMMIT');
      return isDone;
    } catch (thrown) {
      if (this.#session.database.isTransaction) this.#session.database.exec('ROLLBACK');
      if (isBusy(thrown)) return false;
      throw thrown;
    } finally {
      this.#session.database.exec(`PRAGMA synchronous = ${synchronous}`);
    }
  }

  #state(): IndexState {
    const row = this.#prepared().readState.get() ?? {};
    const isOther = row['owner'] !== this.#owner;
    return {
      throughId: Number(row['through_id']),
      removals: Number(row['removals']),
      lastId: Number(row['last_id']),
      isTaken: isOther && Number(row['until_ms']) > systemClock.nowMs(),
    };
  }

  /** Late, because most short-lived processes never index. */
  #prepared(): IndexStatements {
    return (this.#statements ??= prepareIndexStatements(this.#session.database));
  }
}

interface IndexEntry {
  readonly words: string;
  readonly atMs: number;
  readonly runId: string;
  readonly seq: number;
  readonly kind: string;
}

/** What the index keeps of a record; undefined for one that is damaged, which `verify` reports. */
function toEntry(checks: SqliteRowChecks, row: SqliteRow): IndexEntry | undefined {
  let stored: RecordRow;
  let record: TrajectoryRecord;
  try {
    stored = checks.record(row);
    record = parseRecord(stored.json);
  } catch {
    return undefined;
  }
  return {
    words: wordsIn(recordText(record)).words.join(' '),
    atMs: record.recorded_at_unix_ms,
    runId: stored.runId,
    seq: stored.seq,
    kind: storedKind(record),
  };
}

interface IndexStatements {
  readonly readState: StatementSync;
  readonly saveState: StatementSync;
  readonly readAfter: StatementSync;
  readonly insertWords: StatementSync;
  readonly insertPlace: StatementSync;
}

function prepareIndexStatements(database: DatabaseSync): IndexStatements {
  return {
    readState: database.prepare(
      'SELECT through_id, removals, owner, until_ms, (SELECT coalesce(max(id), 0) FROM records) AS last_id FROM indexing',
    ),
    saveState: database.prepare('UPDATE indexing SET through_id = ?, owner = ?, until_ms = ?'),
    readAfter: database.prepare(`SELECT ${RECORD_COLUMNS} FROM records WHERE id > ? ORDER BY id LIMIT ?`),
    insertWords: database.prepare('INSERT INTO record_words (rowid, words) VALUES (?, ?)'),
    insertPlace: database.prepare(
      'INSERT INTO indexed_records (id, minus_at_ms, run_id, minus_seq, kind) VALUES (?, ?, ?, ?, ?)',
    ),
  };
}
