import { Buffer } from 'node:buffer';
import type { DatabaseSync } from 'node:sqlite';

import { parseRecord } from '../../records/decode-record.ts';
import type { TrajectoryRecord } from '../../records/trajectory-record.ts';
import { createRunCheck, type RunCheck } from '../run-check.ts';
import type { SqliteRead, SqliteSession } from './sqlite-reads.ts';
import { RECORD_COLUMNS, SNAPSHOT_COLUMNS, type SqliteRow } from './sqlite-statements.ts';
import { isDamaged, damageText } from '../store-error.ts';
import type { StoreProblem } from '../trajectory-store.ts';

const PAGE_ROWS = 200;
const MOST_FAULTS_OF_SQLITE = 100;

/**
 * Reads a whole database and gives what is wrong: with the file, as SQLite's integrity check sees it, then run by run
 * with the records, their columns and checksums, the summaries and the snapshots, then with what the index and the list of
 * removed runs say. Changes nothing.
 *
 * Cost: reads everything. The integrity check holds up the event loop while it lasts; the rest goes page by page.
 */
export async function* verifySqlite(read: SqliteRead): AsyncGenerator<StoreProblem, void, void> {
  yield* await read('check', ({ database }) => checkFile(database));
  let after: string | undefined;
  for (;;) {
    let runId: string | undefined;
    try {
      const from = after;
      runId = await read('check', ({ database }) =>
        from === undefined ? firstRun(database) : nextRun(database, from),
      );
    } catch (thrown) {
      if (!isDamaged(thrown)) throw thrown;
      const behind = after === undefined ? 'database' : `behind run ${JSON.stringify(after)}`;
      yield { place: behind, problem: `the runs there are not checked: ${damageText(thrown)}` };
      break;
    }
    if (runId === undefined) break;
    if (after !== undefined && Buffer.compare(Buffer.from(after), Buffer.from(runId)) >= 0) {
      yield { place: 'database', problem: `an index is out of order at run ${JSON.stringify(runId)}` };
      break;
    }
    yield* checkRun(read, runId);
    after = runId;
  }
  yield* await read('check', checkLists);
}

function checkFile(database: DatabaseSync): readonly StoreProblem[] {
  let found: readonly SqliteRow[];
  try {
    found = database.prepare(`PRAGMA integrity_check(${MOST_FAULTS_OF_SQLITE})`).all();
  } catch (thrown) {
    return [{ place: 'database', problem: damageText(thrown) }];
  }
  const problems = found.map((row) => String(Object.values(row)[0]));
  return problems.filter((problem) => problem !== 'ok').map((problem) => ({ place: 'database', problem }));
}

const TABLES = ['records', 'runs', 'snapshots'] as const;

/** The empty id is the first in order, and no id lies before it. */
function firstRun(database: DatabaseSync): string | undefined {
  const isEmptyThere = TABLES.some(
    (table) => database.prepare(`SELECT 1 FROM ${table} WHERE run_id = '' LIMIT 1`).get() !== undefined,
  );
  return isEmptyThere ? '' : nextRun(database, '');
}

function nextRun(database: DatabaseSync, after: string): string | undefined {
  const lowest = TABLES.map((table) => `SELECT min(run_id) AS run_id FROM ${table} WHERE run_id > :after`);
  const row = database.prepare(`SELECT min(run_id) AS run_id FROM (${lowest.join(' UNION ALL ')})`).get({ after });
  const runId = row?.['run_id'];
  return typeof runId === 'string' ? runId : undefined;
}

async function* checkRun(read: SqliteRead, runId: string): AsyncGenerator<StoreProblem, void, void> {
  const check = createRunCheck(runId);
  let afterSeq = -Infinity;
  try {
    for (;;) {
      const problems: StoreProblem[] = [];
      const from = afterSeq;
      const { rows, isLast, seq } = await read('check', (session) => readRows(session, runId, from));
      for (const { row, checked } of rows) problems.push(...takeRow(check, row, checked));
      afterSeq = seq;
      yield* problems;
      if (isLast) break;
    }
    yield* await read('check', (session) => [...checkSummary(session, check, runId), ...checkSnapshot(session, runId)]);
  } catch (thrown) {
    // A damaged page: what lies behind it in this run cannot be reached.
    yield { runId, place: `table records after seq ${afterSeq}`, problem: damageText(thrown) };
  }
}

interface VerifiedRow {
  readonly row: SqliteRow;
  /** The record's JSON, or why there is none. */
  readonly checked: { readonly json: string } | { readonly problem: string };
}

function readRows(
  { checks, database }: SqliteSession,
  runId: string,
  afterSeq: number,
): { readonly rows: readonly VerifiedRow[]; readonly isLast: boolean; readonly seq: number } {
  const statement = database.prepare(
    `SELECT ${RECORD_COLUMNS} FROM records WHERE run_id = ?1 AND seq > ?2 ` +
      'AND NOT EXISTS (SELECT 1 FROM removed_runs WHERE run_id = ?1) ORDER BY seq LIMIT ?3',
  );
  const found: readonly SqliteRow[] = statement.all(runId, afterSeq, PAGE_ROWS);
  let seq = afterSeq;
  const rows = found.map((row): VerifiedRow => {
    if (!(Number(row['seq']) > seq)) throw new Error(`the records are out of order behind seq ${seq}`);
    seq = Number(row['seq']);
    try {
      return { row, checked: checks.record(row) };
    } catch (thrown) {
      return { row, checked: { problem: damageText(thrown) } };
    }
  });
  return { rows, isLast: rows.length < PAGE_ROWS, seq };
}

function takeRow(check: RunCheck, row: SqliteRow, checked: VerifiedRow['checked']): readonly StoreProblem[] {
  const place = `table records, id ${String(row['id'])}`;
  const seq = Number(row['seq']);
  if ('problem' in checked) return check.damaged(seq, { place, problem: checked.problem });
  let record: TrajectoryRecord;
  try {
    record = parseRecord(checked.json);
  } catch (thrown) {
    return check.damaged(seq, { place, problem: damageText(thrown) });
  }
  if (record.run_id !== row['run_id'] || record.seq !== seq) {
    const problem = `the record says that it is seq ${record.seq} of run ${JSON.stringify(record.run_id)}`;
    return check.damaged(seq, { place, problem });
  }
  return check.take(record, place);
}

function checkSummary({ checks, statements }: SqliteSession, check: RunCheck, runId: string): readonly StoreProblem[] {
  const place = 'table runs';
  const row = statements.findRun.get(runId);
  if (row === undefined) return check.end(undefined, place);
  try {
    return check.end(checks.summary(row), place);
  } catch (thrown) {
    return [{ runId, place, problem: damageText(thrown) }];
  }
}

function checkSnapshot({ checks, database }: SqliteSession, runId: string): readonly StoreProblem[] {
  const place = 'table snapshots';
  const row = database
    .prepare(
      `SELECT ${SNAPSHOT_COLUMNS}, (SELECT max(seq) FROM records WHERE run_id = :run_id) AS last_seq, ` +
        '(SELECT summary FROM runs WHERE run_id = :run_id) AS summary FROM snapshots WHERE run_id = :run_id',
    )
    .get({ run_id: runId });
  if (row === undefined) return [];
  try {
    const { coversSeq, json } = checks.snapshot(row);
    JSON.parse(json);
    const lastSeq = Math.max(Number(row['last_seq'] ?? -1), lastSeqIn(row['summary']));
    if (coversSeq <= lastSeq) return [];
    return [{ runId, place, problem: `the snapshot covers seq ${coversSeq}, the run ends at ${lastSeq}` }];
  } catch (thrown) {
    return [{ runId, place, problem: damageText(thrown) }];
  }
}

/** Behind a gap at the end of a run no record stands at its last `seq`; a damaged summary is a problem of its own. */
function lastSeqIn(summary: unknown): number {
  const found = typeof summary === 'string' ? /"lastSeq":(\d+)/.exec(summary)?.[1] : undefined;
  return found === undefined ? -1 : Number(found);
}

/** What one statement each finds: lists that say another thing than the tables they are about. */
const LISTS: readonly { readonly sql: string; readonly place: string; readonly problem: string }[] = [
  {
    sql: 'SELECT count(*) AS found FROM removed_runs JOIN runs USING (run_id)',
    place: 'table removed_runs',
    problem: 'a run that is listed is also named as removed, which hides its records',
  },
  {
    sql: 'SELECT (SELECT count(*) FROM indexing) <> 1 AS found',
    place: 'table indexing',
    problem: 'the state of the word index is missing',
  },
  {
    sql: 'SELECT count(*) AS found FROM indexing WHERE through_id > (SELECT coalesce(max(id), 0) FROM records)',
    place: 'table indexing',
    problem: 'the word index claims to hold records that are not there; searches may miss later ones',
  },
  {
    sql:
      'SELECT count(*) AS found FROM indexed_records AS i LEFT JOIN records AS r USING (id) ' +
      'WHERE r.id IS NULL OR i.run_id <> r.run_id OR i.minus_seq <> -r.seq',
    place: 'table indexed_records',
    problem: 'records in the word index that are not those in the store',
  },
  {
    sql:
      'SELECT count(*) AS found FROM records AS r WHERE id <= (SELECT through_id FROM indexing) ' +
      'AND NOT EXISTS (SELECT 1 FROM indexed_records AS i WHERE i.id = r.id)',
    place: 'table indexed_records',
    problem: 'records that the word index should hold and does not; searches miss them',
  },
];

function checkLists({ database }: SqliteSession): readonly StoreProblem[] {
  return LISTS.flatMap(({ sql, place, problem }) => {
    try {
      const found = Number(database.prepare(sql).get()?.['found']);
      return found === 0 ? [] : [{ place, problem: found === 1 ? problem : `${problem} (${found})` }];
    } catch (thrown) {
      return [{ place, problem: damageText(thrown) }];
    }
  });
}
