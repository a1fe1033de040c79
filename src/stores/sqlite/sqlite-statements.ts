import type { DatabaseSync, StatementSync } from 'node:sqlite';

export type SqliteRow = Readonly<Record<string, unknown>>;

/** Condition: the run, whose id is the given SQL expression, is not being removed. */
export function isNotRemoved(runId: string): string {
  return `NOT EXISTS (SELECT 1 FROM removed_runs WHERE removed_runs.run_id = ${runId})`;
}

/** Number of rows per multi-row insert. This takes a third less work than single inserts. */
export const ROWS_AN_INSERT = 16;
const VALUES = Array.from({ length: ROWS_AN_INSERT }, () => '(?, ?, ?, ?)').join(', ');

/** node:sqlite throws for an integer beyond 2⁵³, which only damage writes. An alias hides its column in ORDER BY only. */
const toReal = (column: string): string => `CAST(${column} AS REAL) AS ${column}`;

const CHECKSUM = toReal('checksum');
export const RECORD_COLUMNS: string = `CAST(id AS TEXT) AS id, run_id, ${toReal('seq')}, json, ${CHECKSUM}`;
export const SUMMARY_COLUMNS: string = `run_id, minus_started_ms, summary, ${toReal('chars')}, ${CHECKSUM}`;
export const SNAPSHOT_COLUMNS: string = `run_id, ${toReal('covers_seq')}, json, ${CHECKSUM}`;

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
  /** For a run whose start time is unchanged. The index of the list is not updated. */
  saveSummary: 'UPDATE runs SET summary = ?, chars = chars + ?, checksum = ? WHERE run_id = ?',
  listRuns: `SELECT ${SUMMARY_COLUMNS} FROM runs WHERE (minus_started_ms, run_id) > (?, ?) ORDER BY minus_started_ms, run_id LIMIT ?`,
  findRecord: `SELECT ${RECORD_COLUMNS} FROM records WHERE run_id = ? AND seq = ?`,
  findRecordBefore: `SELECT ${RECORD_COLUMNS} FROM records WHERE run_id = ? AND seq < ? ORDER BY records.seq DESC LIMIT 1`,
  insertRecord: 'INSERT INTO records (run_id, seq, json, checksum) VALUES (?, ?, ?, ?)',
  /** OR FAIL keeps earlier rows after a fault until the rollback, which spares SQLite a statement journal. */
  insertRecords: `INSERT OR FAIL INTO records (run_id, seq, json, checksum) VALUES ${VALUES}`,
  readRecords: `SELECT ${RECORD_COLUMNS} FROM records WHERE run_id = ?1 AND seq >= ?2 AND ${isNotRemoved('?1')} ORDER BY records.seq LIMIT ?3`,
  findSnapshot: `SELECT ${SNAPSHOT_COLUMNS} FROM snapshots WHERE run_id = ?`,
  saveSnapshot:
    'INSERT INTO snapshots (run_id, covers_seq, json, checksum) VALUES (?, ?, ?, ?) ON CONFLICT (run_id) DO UPDATE ' +
    'SET covers_seq = excluded.covers_seq, json = excluded.json, checksum = excluded.checksum',
};

export type SqliteStatements = Statements<StatementName>;

export function prepareSqliteStatements(database: DatabaseSync): SqliteStatements {
  return lazyStatements(database, SQL);
}

export type Statements<Name extends string> = Readonly<Record<Name, StatementSync>>;

/** Prepares each statement on first use, because a process that writes once needs few. */
export function lazyStatements<Name extends string>(
  database: DatabaseSync,
  sql: Readonly<Record<Name, string>>,
): Statements<Name> {
  const statements = {};
  for (const [name, text] of Object.entries<string>(sql)) {
    let statement: StatementSync | undefined;
    Object.defineProperty(statements, name, { get: () => (statement ??= database.prepare(text)) });
  }
  // The loop defined every name.
  return statements as Statements<Name>;
}

/** Runs `work` on one consistent view of the database. */
export function inOneView<Result>(database: DatabaseSync, work: () => Result): Result {
  if (database.isTransaction) return work();
  database.exec('BEGIN');
  try {
    return work();
  } finally {
    // Some faults, such as a full disk, have already ended the transaction. After damage, COMMIT would throw too.
    if (database.isTransaction) database.exec('ROLLBACK');
  }
}
