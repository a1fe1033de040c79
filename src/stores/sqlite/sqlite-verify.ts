import { Buffer } from 'node:buffer';
import type { DatabaseSync } from 'node:sqlite';

import { parseRecord } from '../../core/records/decode-record.ts';
import { createRunCheck, type RunCheck } from '../../core/store/run-check.ts';
import type { SqliteRead, SqliteSession } from './sqlite-reads.ts';
import { isNotRemoved, RECORD_COLUMNS, SNAPSHOT_COLUMNS, type SqliteRow } from './sqlite-statements.ts';
import { isDamaged, damageText } from '../../core/store/store-error.ts';
import type { StoreProblem } from '../../core/store/trajectory-store.ts';

const PAGE_ROWS = 200;
const MAX_FILE_PROBLEMS = 100;

/** Changes nothing. Cost: reads everything; SQLite's integrity check blocks the event loop, the rest goes page by page. */
export async function* verifySqlite(read: SqliteRead): AsyncGenerator<StoreProblem, void, void> {
  yield* await read('check', ({ database }) => checkFile(database));
  let lastRunId: string | undefined;
  for (;;) {
    let runId: string | undefined;
    try {
      const previousRunId = lastRunId;
      runId = await read('check', ({ database }) =>
        previousRunId === undefined ? findFirstRun(database) : findNextRun(database, previousRunId),
      );
    } catch (thrown) {
      if (!isDamaged(thrown)) throw thrown;
      const place = lastRunId === undefined ? 'database' : `after run ${JSON.stringify(lastRunId)}`;
      yield { place, problem: `the runs there are not checked: ${damageText(thrown)}` };
      break;
    }
    if (runId === undefined) break;
    if (lastRunId !== undefined && Buffer.compare(Buffer.from(lastRunId), Buffer.from(runId)) >= 0) {
      yield { place: 'database', problem: `an index is out of order at run ${JSON.stringify(runId)}` };
      break;
    }
    yield* checkRun(read, runId);
    lastRunId = runId;
  }
  yield* await read('check', checkLists);
}

function checkFile(database: DatabaseSync): readonly StoreProblem[] {
  try {
    const rows = database.prepare(`PRAGMA integrity_check(${MAX_FILE_PROBLEMS})`).all();
    const problems = rows.map((row) => String(Object.values(row)[0]));
    return problems.filter((problem) => problem !== 'ok').map((problem) => ({ place: 'database', problem }));
  } catch (thrown) {
    return [{ place: 'database', problem: damageText(thrown) }];
  }
}

const TABLES = ['records', 'runs', 'snapshots'] as const;

/** The empty id sorts first. */
function findFirstRun(database: DatabaseSync): string | undefined {
  const hasEmptyId = TABLES.some(
    (table) => database.prepare(`SELECT 1 FROM ${table} WHERE run_id = '' LIMIT 1`).get() !== undefined,
  );
  return hasEmptyId ? '' : findNextRun(database, '');
}

function findNextRun(database: DatabaseSync, lastRunId: string): string | undefined {
  const lowestSql = TABLES.map((table) => `SELECT min(run_id) AS run_id FROM ${table} WHERE run_id > :after`);
  const row = database
    .prepare(`SELECT min(run_id) AS run_id FROM (${lowestSql.join(' UNION ALL ')})`)
    .get({ after: lastRunId });
  const runId = row?.['run_id'];
  return typeof runId === 'string' ? runId : undefined;
}

async function* checkRun(read: SqliteRead, runId: string): AsyncGenerator<StoreProblem, void, void> {
  const check = createRunCheck(runId);
  let afterSeq = -Infinity;
  try {
    for (;;) {
      const fromSeq = afterSeq;
      const rows = await read('check', (session) => readRows(session, runId, fromSeq));
      for (const { row, result } of rows) {
        yield* checkRow(check, row, result);
        afterSeq = Number(row['seq']);
      }
      if (rows.length < PAGE_ROWS) break;
    }
    yield* await read('check', (session) => [...checkSummary(session, check, runId), ...checkSnapshot(session, runId)]);
  } catch (thrown) {
    // A damaged page makes the rest of the run unreadable.
    const place = afterSeq < 0 ? 'table records' : `table records after seq ${afterSeq}`;
    yield { runId, place, problem: damageText(thrown) };
  }
}

interface VerifiedRow {
  readonly row: SqliteRow;
  readonly result: { readonly json: string } | { readonly problem: string };
}

function readRows({ checks, database }: SqliteSession, runId: string, afterSeq: number): readonly VerifiedRow[] {
  const statement = database.prepare(
    `SELECT ${RECORD_COLUMNS} FROM records WHERE run_id = ?1 AND seq > ?2 AND ${isNotRemoved('?1')} ORDER BY records.seq LIMIT ?3`,
  );
  let seq = afterSeq;
  return statement.all(runId, afterSeq, PAGE_ROWS).map((row): VerifiedRow => {
    if (!(Number(row['seq']) > seq)) throw new Error(`the records are out of order after seq ${seq}`);
    seq = Number(row['seq']);
    try {
      return { row, result: checks.record(row) };
    } catch (thrown) {
      return { row, result: { problem: damageText(thrown) } };
    }
  });
}

function checkRow(check: RunCheck, row: SqliteRow, result: VerifiedRow['result']): readonly StoreProblem[] {
  const place = `table records, id ${String(row['id'])}`;
  const seq = Number(row['seq']);
  if ('problem' in result) return check.reportDamage(seq, { place, problem: result.problem });
  try {
    const record = parseRecord(result.json);
    if (record.run_id === row['run_id'] && record.seq === seq) return check.checkRecord(record, place);
    const problem = `the row contains seq ${record.seq} of run ${JSON.stringify(record.run_id)}`;
    return check.reportDamage(seq, { place, problem });
  } catch (thrown) {
    return check.reportDamage(seq, { place, problem: damageText(thrown) });
  }
}

function checkSummary({ checks, statements }: SqliteSession, check: RunCheck, runId: string): readonly StoreProblem[] {
  const place = 'table runs';
  const row = statements.findRun.get(runId);
  try {
    return check.checkSummary(row === undefined ? undefined : checks.summary(row), place);
  } catch (thrown) {
    return [{ runId, place, problem: damageText(thrown) }];
  }
}

function checkSnapshot({ checks, database }: SqliteSession, runId: string): readonly StoreProblem[] {
  const place = 'table snapshots';
  const row = database
    .prepare(
      `SELECT ${SNAPSHOT_COLUMNS}, (SELECT CAST(max(seq) AS REAL) FROM records WHERE run_id = :run_id) AS last_seq, ` +
        '(SELECT summary FROM runs WHERE run_id = :run_id) AS summary FROM snapshots WHERE run_id = :run_id',
    )
    .get({ run_id: runId });
  if (row === undefined) return [];
  try {
    const { coversSeq, json } = checks.snapshot(row);
    JSON.parse(json);
    // After a gap at the end of a run the highest stored seq is lower; a damaged summary is reported separately.
    const summaryEnd = /"lastSeq":(\d+)/.exec(String(row['summary']))?.[1] ?? -1;
    const lastSeq = Math.max(Number(row['last_seq'] ?? -1), Number(summaryEnd));
    if (coversSeq <= lastSeq) return [];
    return [{ runId, place, problem: `the snapshot covers seq ${coversSeq}, the run ends at ${lastSeq}` }];
  } catch (thrown) {
    return [{ runId, place, problem: damageText(thrown) }];
  }
}

/** Each statement counts contradictions between a list and the tables it is about. */
const LIST_CHECKS: readonly { readonly sql: string; readonly place: string; readonly problem: string }[] = [
  {
    sql: 'SELECT count(*) AS found FROM removed_runs JOIN runs USING (run_id)',
    place: 'table removed_runs',
    problem: 'a listed run is also marked as removed, which hides its records',
  },
  {
    sql: 'SELECT (SELECT count(*) FROM indexing) <> 1 AS found',
    place: 'table indexing',
    problem: 'the state of the word index is missing',
  },
  {
    sql: 'SELECT count(*) AS found FROM indexing WHERE through_id > (SELECT coalesce(max(id), 0) FROM records)',
    place: 'table indexing',
    problem: 'the word index claims to cover records that do not exist; searches may miss later ones',
  },
  {
    sql:
      'SELECT count(*) AS found FROM indexed_records AS i LEFT JOIN records AS r USING (id) ' +
      'WHERE r.id IS NULL OR i.run_id <> r.run_id OR i.minus_seq <> -r.seq',
    place: 'table indexed_records',
    problem: 'the word index contains records that differ from those in the store',
  },
  {
    sql:
      'SELECT count(*) AS found FROM records AS r WHERE id <= (SELECT through_id FROM indexing) ' +
      'AND NOT EXISTS (SELECT 1 FROM indexed_records AS i WHERE i.id = r.id)',
    place: 'table indexed_records',
    problem: 'the word index lacks records; searches miss them',
  },
];

function checkLists({ database }: SqliteSession): readonly StoreProblem[] {
  return LIST_CHECKS.flatMap(({ sql, place, problem }) => {
    try {
      const count = Number(database.prepare(sql).get()?.['found']);
      return count === 0 ? [] : [{ place, problem: count === 1 ? problem : `${problem} (${count})` }];
    } catch (thrown) {
      return [{ place, problem: damageText(thrown) }];
    }
  });
}
