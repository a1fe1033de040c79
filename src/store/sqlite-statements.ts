import type { DatabaseSync, StatementSync } from 'node:sqlite';

import type { RunSummary } from './run-summary.ts';
import type { SavedSnapshot } from './run-view.ts';
import { SqliteRemovals } from './sqlite-removals.ts';

/** What the SQLite store asks of its tables. */
export interface SqliteStatements {
  readonly findRun: StatementSync;
  readonly saveRun: StatementSync;
  /** For a run that is listed where it was: the index of the list stays as it is. */
  readonly saveSummary: StatementSync;
  readonly listRuns: StatementSync;
  readonly findRecord: StatementSync;
  readonly insertRecord: StatementSync;
  /** The same for `ROWS_AN_INSERT` records. What it inserted before it met a fault stays until the transaction is rolled back. */
  readonly insertRecords: StatementSync;
  readonly readRecords: StatementSync;
  readonly findSnapshot: StatementSync;
  readonly saveSnapshot: StatementSync;
  readonly removals: SqliteRemovals;
}

/** SQL that is true for a run that is not being removed; the run's id is the first parameter. */
const IS_NOT_REMOVED = 'NOT EXISTS (SELECT 1 FROM removed_runs WHERE run_id = ?1)';

/** Records that one statement inserts where there are as many: a third less work than one by one. */
export const ROWS_AN_INSERT = 16;
const VALUES = Array.from({ length: ROWS_AN_INSERT }, () => '(?, ?, ?)').join(', ');
/** Without OR FAIL, SQLite would keep a journal of its own for each of these statements. */
const INSERT_RECORDS = `INSERT OR FAIL INTO records (run_id, seq, json) VALUES ${VALUES}`;

/** Each is prepared when it is first asked for: a process that writes once needs few. */
export function prepareSqliteStatements(database: DatabaseSync): SqliteStatements {
  const prepared = new Map<string, StatementSync>();
  const once = (sql: string): StatementSync => {
    const known = prepared.get(sql);
    if (known !== undefined) return known;
    const statement = database.prepare(sql);
    prepared.set(sql, statement);
    return statement;
  };
  return {
    get findRun() {
      return once('SELECT summary FROM runs WHERE run_id = ?');
    },
    get saveRun() {
      return once(
        'INSERT INTO runs (run_id, minus_started_ms, summary, chars) VALUES (?, ?, ?, ?) ON CONFLICT (run_id) DO UPDATE ' +
          'SET minus_started_ms = excluded.minus_started_ms, summary = excluded.summary, chars = chars + excluded.chars',
      );
    },
    get saveSummary() {
      return once('UPDATE runs SET summary = ?, chars = chars + ? WHERE run_id = ?');
    },
    get listRuns() {
      return once(
        'SELECT summary, chars FROM runs WHERE (minus_started_ms, run_id) > (?, ?) ORDER BY minus_started_ms, run_id LIMIT ?',
      );
    },
    get findRecord() {
      return once('SELECT seq, json FROM records WHERE run_id = ? AND seq = ?');
    },
    get insertRecord() {
      return once('INSERT INTO records (run_id, seq, json) VALUES (?, ?, ?)');
    },
    get insertRecords() {
      return once(INSERT_RECORDS);
    },
    get readRecords() {
      return once(
        `SELECT seq, json FROM records WHERE run_id = ?1 AND seq >= ?2 AND ${IS_NOT_REMOVED} ORDER BY seq LIMIT ?3`,
      );
    },
    get findSnapshot() {
      return once('SELECT covers_seq, json FROM snapshots WHERE run_id = ?');
    },
    get saveSnapshot() {
      return once(
        'INSERT INTO snapshots (run_id, covers_seq, json) VALUES (?, ?, ?) ON CONFLICT (run_id) DO UPDATE ' +
          'SET covers_seq = excluded.covers_seq, json = excluded.json',
      );
    },
    removals: new SqliteRemovals(database),
  };
}

/** A row as `node:sqlite` gives it. */
export type SqliteRow = Readonly<Record<string, unknown>>;

/** A stored record, not decoded. */
export interface RecordRow {
  readonly seq: number;
  readonly json: string;
}

export function toRecordRow(row: SqliteRow): RecordRow {
  return { seq: Number(row['seq']), json: String(row['json']) };
}

export function toSummary(row: SqliteRow): RunSummary {
  // Only `saveRun` writes this column.
  return JSON.parse(String(row['summary'])) as RunSummary;
}

export function toSnapshot(row: SqliteRow): SavedSnapshot {
  return { coversSeq: Number(row['covers_seq']), json: String(row['json']) };
}
