import type { DatabaseSync, StatementSync } from 'node:sqlite';

import { CHECKED_LAYOUT, NEWEST_LAYOUT } from './sqlite-migrations.ts';
import { SqliteRemovals } from './sqlite-removals.ts';

/** SQL that is true for a run that is not being removed; the run's id is the first parameter. */
const IS_NOT_REMOVED = 'NOT EXISTS (SELECT 1 FROM removed_runs WHERE run_id = ?1)';

/** Records that one statement inserts where there are as many: a third less work than one by one. */
export const ROWS_AN_INSERT = 16;
const VALUES = Array.from({ length: ROWS_AN_INSERT }, () => '(?, ?, ?, ?)').join(', ');

/** SQL of the columns of `records` that `SqliteRowChecks` reads; before layout 4 no row has a checksum. */
export function recordColumns(layout: number): string {
  return `id, run_id, seq, json, ${checksumColumn(layout)}`;
}

/** The same of `runs`. */
export function runColumns(layout: number): string {
  return `run_id, minus_started_ms, summary, chars, ${checksumColumn(layout)}`;
}

/** The same of `snapshots`. */
export function snapshotColumns(layout: number): string {
  return `run_id, covers_seq, json, ${checksumColumn(layout)}`;
}

function checksumColumn(layout: number): string {
  return layout < CHECKED_LAYOUT ? 'NULL AS checksum' : 'checksum';
}

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

/** The SQL of each statement, for a database of a layout. */
const SQL: Readonly<Record<StatementName, (layout: number) => string>> = {
  findRun: (layout) => `SELECT ${runColumns(layout)} FROM runs WHERE run_id = ?`,
  saveRun: () =>
    'INSERT INTO runs (run_id, minus_started_ms, summary, chars, checksum) VALUES (?, ?, ?, ?, ?) ' +
    'ON CONFLICT (run_id) DO UPDATE SET minus_started_ms = excluded.minus_started_ms, summary = excluded.summary, ' +
    'chars = chars + excluded.chars, checksum = excluded.checksum',
  /** For a run that is listed where it was: the index of the list stays as it is. */
  saveSummary: () => 'UPDATE runs SET summary = ?, chars = chars + ?, checksum = ? WHERE run_id = ?',
  listRuns: (layout) =>
    `SELECT ${runColumns(layout)} FROM runs WHERE (minus_started_ms, run_id) > (?, ?) ORDER BY minus_started_ms, run_id LIMIT ?`,
  findRecord: (layout) => `SELECT ${recordColumns(layout)} FROM records WHERE run_id = ? AND seq = ?`,
  /** The last record before a `seq`. */
  findRecordBefore: (layout) =>
    `SELECT ${recordColumns(layout)} FROM records WHERE run_id = ? AND seq < ? ORDER BY seq DESC LIMIT 1`,
  insertRecord: () => 'INSERT INTO records (run_id, seq, json, checksum) VALUES (?, ?, ?, ?)',
  /**
   * The same for `ROWS_AN_INSERT` records. What it inserted before it met a fault stays until the transaction is rolled back: without
   * OR FAIL, SQLite would keep a journal of its own for each of these statements.
   */
  insertRecords: () => `INSERT OR FAIL INTO records (run_id, seq, json, checksum) VALUES ${VALUES}`,
  readRecords: (layout) =>
    `SELECT ${recordColumns(layout)} FROM records WHERE run_id = ?1 AND seq >= ?2 AND ${IS_NOT_REMOVED} ORDER BY seq LIMIT ?3`,
  findSnapshot: (layout) => `SELECT ${snapshotColumns(layout)} FROM snapshots WHERE run_id = ?`,
  saveSnapshot: () =>
    'INSERT INTO snapshots (run_id, covers_seq, json, checksum) VALUES (?, ?, ?, ?) ON CONFLICT (run_id) DO UPDATE ' +
    'SET covers_seq = excluded.covers_seq, json = excluded.json, checksum = excluded.checksum',
};

/** What the SQLite store asks of its tables. */
export type SqliteStatements = Readonly<Record<StatementName, StatementSync>> & {
  readonly removals: SqliteRemovals;
};

/**
 * Each is prepared when it is first asked for: a process that writes once needs few.
 *
 * @param layout  of the database; the statements that write want the newest
 */
export function prepareSqliteStatements(database: DatabaseSync, layout: number = NEWEST_LAYOUT): SqliteStatements {
  const statements = { removals: new SqliteRemovals(database) };
  for (const [name, sql] of Object.entries(SQL)) {
    let statement: StatementSync | undefined;
    Object.defineProperty(statements, name, { get: () => (statement ??= database.prepare(sql(layout))) });
  }
  // Every statement of the table was defined above.
  return statements as SqliteStatements;
}

/** A row as `node:sqlite` gives it. */
export type SqliteRow = Readonly<Record<string, unknown>>;
