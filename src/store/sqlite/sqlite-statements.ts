import type { DatabaseSync, StatementSync } from 'node:sqlite';

import { SqliteRemovals } from './sqlite-removals.ts';

/** SQL that is true for a run that is not being removed; the run's id is the first parameter. */
const IS_NOT_REMOVED = 'NOT EXISTS (SELECT 1 FROM removed_runs WHERE run_id = ?1)';

/** Records that one statement inserts where there are as many: a third less work than one by one. */
export const ROWS_AN_INSERT = 16;
const VALUES = Array.from({ length: ROWS_AN_INSERT }, () => '(?, ?, ?, ?)').join(', ');

/** The columns of `records`, `runs` and `snapshots` that `SqliteRowChecks` reads. */
export const RECORD_COLUMNS = 'id, run_id, seq, json, checksum';
export const SUMMARY_COLUMNS = 'run_id, minus_started_ms, summary, chars, checksum';
export const SNAPSHOT_COLUMNS = 'run_id, covers_seq, json, checksum';

type StatementName =
  | 'findRun'
  | 'saveRun'
  | 'saveSummary'
  | 'listRuns'
  | 'findRecord'
  | 'findRecordBefore'
  | 'insertRecord'
  | 'insertRecords'
  | 'readRecords'
  | 'findSnapshot'
  | 'saveSnapshot';

const SQL: Readonly<Record<StatementName, string>> = {
  findRun: `SELECT ${SUMMARY_COLUMNS} FROM runs WHERE run_id = ?`,
  saveRun:
    'INSERT INTO runs (run_id, minus_started_ms, summary, chars, checksum) VALUES (?, ?, ?, ?, ?) ' +
    'ON CONFLICT (run_id) DO UPDATE SET minus_started_ms = excluded.minus_started_ms, summary = excluded.summary, ' +
    'chars = chars + excluded.chars, checksum = excluded.checksum',
  /** For a run that is listed where it was: the index of the list stays as it is. */
  saveSummary: 'UPDATE runs SET summary = ?, chars = chars + ?, checksum = ? WHERE run_id = ?',
  listRuns: `SELECT ${SUMMARY_COLUMNS} FROM runs WHERE (minus_started_ms, run_id) > (?, ?) ORDER BY minus_started_ms, run_id LIMIT ?`,
  findRecord: `SELECT ${RECORD_COLUMNS} FROM records WHERE run_id = ? AND seq = ?`,
  /** The last record before a `seq`. */
  findRecordBefore: `SELECT ${RECORD_COLUMNS} FROM records WHERE run_id = ? AND seq < ? ORDER BY seq DESC LIMIT 1`,
  insertRecord: 'INSERT INTO records (run_id, seq, json, checksum) VALUES (?, ?, ?, ?)',
  /**
   * The same for `ROWS_AN_INSERT` records. What it inserted before it met a fault stays until the transaction is rolled back: without
   * OR FAIL, SQLite would keep a journal of its own for each of these statements.
   */
  insertRecords: `INSERT OR FAIL INTO records (run_id, seq, json, checksum) VALUES ${VALUES}`,
  readRecords: `SELECT ${RECORD_COLUMNS} FROM records WHERE run_id = ?1 AND seq >= ?2 AND ${IS_NOT_REMOVED} ORDER BY seq LIMIT ?3`,
  findSnapshot: `SELECT ${SNAPSHOT_COLUMNS} FROM snapshots WHERE run_id = ?`,
  saveSnapshot:
    'INSERT INTO snapshots (run_id, covers_seq, json, checksum) VALUES (?, ?, ?, ?) ON CONFLICT (run_id) DO UPDATE ' +
    'SET covers_seq = excluded.covers_seq, json = excluded.json, checksum = excluded.checksum',
};

/** What the SQLite store asks of its tables. */
export type SqliteStatements = Readonly<Record<StatementName, StatementSync>> & {
  readonly removals: SqliteRemovals;
};

/** Each is prepared when it is first asked for: a process that writes once needs few. */
export function prepareSqliteStatements(database: DatabaseSync): SqliteStatements {
  const statements = { removals: new SqliteRemovals(database) };
  for (const [name, sql] of Object.entries(SQL)) {
    let statement: StatementSync | undefined;
    Object.defineProperty(statements, name, { get: () => (statement ??= database.prepare(sql)) });
  }
  // Every statement of the table was defined above.
  return statements as SqliteStatements;
}

/** A row as `node:sqlite` gives it. */
export type SqliteRow = Readonly<Record<string, unknown>>;
