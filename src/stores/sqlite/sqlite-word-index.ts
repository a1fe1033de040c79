import { setImmediate as nextTurn } from 'node:timers/promises';

import { systemClock } from '../../core/base/clock.ts';
import { parseRecord } from '../../core/records/decode-record.ts';
import { recordText } from '../../core/store/record-text.ts';
import { storedKind } from '../../core/store/search-page.ts';
import { isBusy } from '../sqlite-busy.ts';
import type { SqliteSession } from './sqlite-reads.ts';
import type { SqliteRowChecks } from './sqlite-row-checks.ts';
import { lazyStatements, RECORD_COLUMNS, type SqliteRow, type Statements } from './sqlite-statements.ts';
import { wordsIn } from '../../core/store/words-in.ts';

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
  readAfter: `SELECT ${RECORD_COLUMNS} FROM records WHERE id > ? ORDER BY id LIMIT ?`,
  insertWords: 'INSERT INTO record_words (rowid, words) VALUES (?, ?)',
  insertPlace: 'INSERT INTO indexed_records (id, minus_at_ms, run_id, minus_seq, kind) VALUES (?, ?, ?, ?, ?)',
};

export interface WordIndexOptions {
  /** Time of this process's last write, on the clock of `performance.now()`. */
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

/**
 * Fills the full-text index in the background: small batches on a timer, a few milliseconds each, in one of the processes that
 * have the store open. The timer keeps no process alive. Batches are not synced to disk; after a power cut what is missing is
 * indexed again.
 */
export class SqliteWordIndex {
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

  /** Indexes one batch if it is this process's turn. @returns the pause before the next */
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

  /** @returns false if another process holds the lock or was faster */
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

interface IndexEntry {
  readonly id: number;
  readonly words: string;
  readonly atMs: number;
  readonly runId: string;
  readonly seq: number;
  readonly kind: string;
}

/** The index entry of a record; undefined for a damaged one, which `verify` reports. */
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
