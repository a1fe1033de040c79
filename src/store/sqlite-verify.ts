import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { messageOf } from '../base/error.ts';
import { parseRecord } from '../events/decode-record.ts';
import type { TrajectoryRecord } from '../events/trajectory-record.ts';
import { createRunCheck } from './run-check.ts';
import type { RunCheck } from './run-check.ts';
import type { RunSummary } from './run-summary.ts';
import type { SqliteRow } from './sqlite-statements.ts';
import type { StoreProblem } from './trajectory-store.ts';

const PAGE_ROWS = 200;
const MOST_FAULTS_OF_SQLITE = 100;

/**
 * Reads a whole database and gives what is wrong: with the file, as SQLite's integrity check sees it, then run by run
 * with the records, their columns, the summaries and the snapshots. Changes nothing.
 *
 * Cost: reads everything. The integrity check holds up the event loop while it lasts; the rest goes page by page.
 */
export async function* verifySqlite(database: DatabaseSync): AsyncGenerator<StoreProblem, void, void> {
  yield* checkFile(database);
  const nextRun = database.prepare(
    'SELECT min(run_id) AS run_id FROM (SELECT min(run_id) AS run_id FROM records WHERE run_id > :after ' +
      'UNION ALL SELECT min(run_id) FROM runs WHERE run_id > :after ' +
      'UNION ALL SELECT min(run_id) FROM snapshots WHERE run_id > :after)',
  );
  const first = database.prepare(
    "SELECT 1 FROM records WHERE run_id = '' UNION SELECT 1 FROM runs WHERE run_id = '' " +
      "UNION SELECT 1 FROM snapshots WHERE run_id = ''",
  );
  if (first.get() !== undefined) yield* checkRun(database, '');
  for (let runId = nextOf(nextRun, ''); runId !== undefined; runId = nextOf(nextRun, runId)) {
    yield* checkRun(database, runId);
  }
}

function nextOf(nextRun: StatementSync, after: string): string | undefined {
  const runId = nextRun.get({ after })?.['run_id'];
  return typeof runId === 'string' ? runId : undefined;
}

function* checkFile(database: DatabaseSync): Generator<StoreProblem, void, void> {
  let found: readonly SqliteRow[];
  try {
    found = database.prepare(`PRAGMA integrity_check(${MOST_FAULTS_OF_SQLITE})`).all();
  } catch (thrown) {
    yield { place: 'database', problem: messageOf(thrown) };
    return;
  }
  for (const row of found) {
    const problem = String(Object.values(row)[0]);
    if (problem !== 'ok') yield { place: 'database', problem };
  }
}

async function* checkRun(database: DatabaseSync, runId: string): AsyncGenerator<StoreProblem, void, void> {
  const readRows = database.prepare(
    'SELECT id, run_id, seq, json FROM records WHERE run_id = ?1 AND seq > ?2 ' +
      'AND NOT EXISTS (SELECT 1 FROM removed_runs WHERE run_id = ?1) ORDER BY seq LIMIT ?3',
  );
  const check = createRunCheck(runId);
  let afterSeq = -Infinity;
  try {
    for (;;) {
      const rows: readonly SqliteRow[] = readRows.all(runId, afterSeq, PAGE_ROWS);
      for (const row of rows) {
        afterSeq = Number(row['seq']);
        yield* checkRow(check, row);
      }
      if (rows.length < PAGE_ROWS) break;
      await nextTurn();
    }
    yield* checkSummary(database, check, runId);
    yield* checkSnapshot(database, runId);
  } catch (thrown) {
    // A damaged page: what lies behind it in this run cannot be reached.
    yield { runId, place: `table records after seq ${afterSeq}`, problem: messageOf(thrown) };
  }
}

function checkRow(check: RunCheck, row: SqliteRow): readonly StoreProblem[] {
  const place = `table records, id ${String(row['id'])}`;
  const seq = Number(row['seq']);
  let record: TrajectoryRecord;
  try {
    record = parseRecord(String(row['json']));
  } catch (thrown) {
    return check.damaged(seq, { place, problem: messageOf(thrown) });
  }
  if (record.run_id !== row['run_id'] || record.seq !== seq) {
    const problem = `the record says that it is seq ${record.seq} of run ${JSON.stringify(record.run_id)}`;
    return check.damaged(seq, { place, problem });
  }
  return check.take(record, place);
}

function checkSummary(database: DatabaseSync, check: RunCheck, runId: string): readonly StoreProblem[] {
  const place = 'table runs';
  const row = database.prepare('SELECT minus_started_ms, summary FROM runs WHERE run_id = ?').get(runId);
  if (row === undefined) return check.end(undefined, place);
  let summary: RunSummary;
  try {
    // `check.end` compares all of it.
    summary = JSON.parse(String(row['summary'])) as RunSummary;
  } catch (thrown) {
    return [{ runId, place, problem: `the summary is not JSON: ${messageOf(thrown)}` }];
  }
  const problems = check.end(summary, place);
  if (problems.length > 0 || row['minus_started_ms'] === 0 - summary.startedAtMs) return problems;
  return [{ runId, place, problem: 'the run is listed under another time than its summary says' }];
}

function checkSnapshot(database: DatabaseSync, runId: string): readonly StoreProblem[] {
  const place = 'table snapshots';
  const row = database
    .prepare(
      'SELECT covers_seq, json, (SELECT max(seq) FROM records WHERE run_id = :run_id) AS last_seq, ' +
        '(SELECT json_extract(summary, :path) FROM runs WHERE run_id = :run_id) AS summary_seq ' +
        'FROM snapshots WHERE run_id = :run_id',
    )
    .get({ run_id: runId, path: '$.lastSeq' });
  if (row === undefined) return [];
  const problems: StoreProblem[] = [];
  try {
    JSON.parse(String(row['json']));
  } catch (thrown) {
    problems.push({ runId, place, problem: `the snapshot is not JSON: ${messageOf(thrown)}` });
  }
  const lastSeq = Math.max(Number(row['last_seq'] ?? -1), Number(row['summary_seq'] ?? -1));
  if (Number(row['covers_seq']) > lastSeq) {
    const problem = `the snapshot covers seq ${String(row['covers_seq'])}, the run ends at ${lastSeq}`;
    problems.push({ runId, place, problem });
  }
  return problems;
}
