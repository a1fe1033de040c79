import type { TrajectoryRecord } from '../../records/trajectory-record.ts';
import type { RunSummary } from '../run-summary.ts';
import { openReadOnly } from './sqlite-read-only.ts';
import { RECORD_COLUMNS, SUMMARY_COLUMNS } from './sqlite-statements.ts';
import { isDamaged } from '../store-error.ts';

/** A run as a status line shows it. */
export interface RunGlance {
  readonly summary: RunSummary;
  /** Of the records at the run's beginning and end, those that tell of patterns and deadlines, in order; checked. */
  readonly records: readonly TrajectoryRecord[];
}

/** Runs that started last, of which the one with the latest record counts. */
const RECENT_RUNS = 50;
/** A run's start may set the deadline a few records after the first. */
const HEAD_RECORDS = 64;
/** Some 250 calls. */
const TAIL_RECORDS = 2_000;
const LOCK_LIMIT_MS = 200;

/**
 * Looks at one run of a SQLite store without opening it for writing, for a process that is started every second: loads nothing
 * but SQLite, and waits 200 ms at most.
 *
 * @param runId  undefined: of the runs that are no subagents and were no import, the one at work last
 * @returns undefined when there is no such run; damaged rows are left out
 * @throws CoxswainError as `openReadOnly`, and what SQLite throws
 * Cost: reads 50 summaries and 2,064 records at most; parses few of them.
 */
export function glanceSqlite(file: string, runId?: string): RunGlance | undefined {
  const opened = openReadOnly(file, { timeoutMs: LOCK_LIMIT_MS });
  try {
    const { checks, database } = opened.session;
    const rows =
      runId === undefined ? database.prepare(RECENT_SQL).all(RECENT_RUNS) : database.prepare(ONE_SQL).all(runId);
    const summary = rows
      .flatMap((row) => whole(() => checks.summary(row)))
      .filter(({ depth, format }) => runId !== undefined || (depth === 0 && format === undefined))
      .toSorted((a, b) => b.lastAtMs - a.lastAtMs)[0];
    if (summary === undefined) return undefined;
    const fromSeq = Math.max(HEAD_RECORDS, summary.lastSeq - TAIL_RECORDS);
    const records = database
      .prepare(TELLING_SQL)
      .all(summary.runId, HEAD_RECORDS, fromSeq)
      .flatMap((row) => whole(() => checks.record(row)))
      // Its checksum is right, so the store wrote it, and it writes nothing that is no record.
      .map(({ json }) => JSON.parse(json) as TrajectoryRecord);
    return { summary, records };
  } finally {
    opened.close();
  }
}

/** Nothing for a damaged row: a status line is no place for that, `coxswain verify` is. */
function whole<Row>(check: () => Row): readonly Row[] {
  try {
    return [check()];
  } catch (thrown) {
    if (isDamaged(thrown)) return [];
    throw thrown;
  }
}

const NOT_REMOVED = 'NOT EXISTS (SELECT 1 FROM removed_runs WHERE removed_runs.run_id = runs.run_id)';
/** In the text of a string the quotes would be escaped; what is nested in arguments is told by its place later. */
const IS_TELLING = `(instr(json, '"kind":"pattern_') > 0 OR instr(json, '"kind":"deadline_set"') > 0)`;

const RECENT_SQL = `SELECT ${SUMMARY_COLUMNS} FROM runs WHERE ${NOT_REMOVED} ORDER BY minus_started_ms, run_id LIMIT ?`;
const ONE_SQL = `SELECT ${SUMMARY_COLUMNS} FROM runs WHERE run_id = ? AND ${NOT_REMOVED}`;

const SELECT_RECORDS = `SELECT ${RECORD_COLUMNS} FROM records WHERE run_id = ?1`;
/** Two ranges, and not one condition, so that the index is used: else every record of the run is looked at. */
const TELLING_SQL =
  `${SELECT_RECORDS} AND seq < ?2 AND (seq = 0 OR ${IS_TELLING}) UNION ALL ` +
  `${SELECT_RECORDS} AND seq >= ?3 AND ${IS_TELLING} ORDER BY seq`;
