import { DatabaseSync } from 'node:sqlite';

import type { TrajectoryRecord } from '../events/trajectory-record.ts';
import { refuseLinks } from './records-folder.ts';
import type { RunSummary } from './run-summary.ts';

/** A run as a status line shows it. */
export interface RunGlance {
  readonly summary: RunSummary;
  /** Of the records at the run's beginning and end, those that tell of patterns and deadlines, in order; not checked. */
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
 * but SQLite, brings no earlier layout up to date, and waits 200 ms at most.
 *
 * @param runId  undefined: of the runs that are no subagents and were no import, the one at work last
 * @returns undefined when there is no such run
 * @throws what SQLite throws, also for a file that is not there or is no store of this layout
 * Cost: reads 50 summaries and 2,064 records at most; parses few of them.
 */
export function glanceSqlite(file: string, runId?: string): RunGlance | undefined {
  refuseLinks(file);
  const database = new DatabaseSync(file, { readOnly: true, timeout: LOCK_LIMIT_MS });
  try {
    const summaries =
      runId === undefined
        ? database.prepare(RECENT).all(RECENT_RUNS)
        : database.prepare(`SELECT summary FROM runs WHERE run_id = ? AND ${NOT_REMOVED}`).all(runId);
    const summary = summaries
      // Only the store writes this column.
      .map((row) => JSON.parse(String(row['summary'])) as RunSummary)
      .filter(({ depth, format }) => runId !== undefined || (depth === 0 && format === undefined))
      .toSorted((a, b) => b.lastAtMs - a.lastAtMs)[0];
    if (summary === undefined) return undefined;
    const fromSeq = Math.max(HEAD_RECORDS, summary.lastSeq - TAIL_RECORDS);
    const rows = database.prepare(TELLING).all(summary.runId, HEAD_RECORDS, fromSeq);
    // Nobody but the store writes here either; a reader who needs proof reads the store itself.
    return { summary, records: rows.map((row) => JSON.parse(String(row['json'])) as TrajectoryRecord) };
  } finally {
    database.close();
  }
}

const NOT_REMOVED = 'run_id NOT IN (SELECT run_id FROM removed_runs)';
const RECENT = `SELECT summary FROM runs WHERE ${NOT_REMOVED} ORDER BY minus_started_ms, run_id LIMIT ?`;
/** In the text of a string the quotes would be escaped; what is nested in arguments is told by its place later. */
const IS_TELLING = `(instr(json, '"kind":"pattern_') > 0 OR instr(json, '"kind":"deadline_set"') > 0)`;
/** Two ranges, and not one condition, so that the index is used: else every record of the run is looked at. */
const TELLING =
  `SELECT seq, json FROM records WHERE run_id = ?1 AND seq < ?2 AND (seq = 0 OR ${IS_TELLING}) UNION ALL ` +
  `SELECT seq, json FROM records WHERE run_id = ?1 AND seq >= ?3 AND ${IS_TELLING} ORDER BY seq`;
