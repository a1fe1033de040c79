import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { parseRecord } from '../../records/decode-record.ts';
import type { TrajectoryRecord } from '../../records/trajectory-record.ts';
import { isRunId } from '../check-batch.ts';
import { checkReadQuery } from '../check-read-query.ts';
import { checkRunQuery, compareRuns, toRunPage } from '../run-page.ts';
import { lastSeqOf, type RunSummary } from '../run-summary.ts';
import { SqliteRowChecks, type RecordRow } from './sqlite-row-checks.ts';
import { sqliteBytesByRow } from './sqlite-size.ts';
import { prepareSqliteStatements, type SqliteRow, type SqliteStatements } from './sqlite-statements.ts';
import { storeDamaged } from '../store-error.ts';
import type { ReadQuery, RunPage, RunQuery } from '../trajectory-store.ts';

/** An open database with what reads it. */
export interface SqliteSession {
  readonly database: DatabaseSync;
  readonly statements: SqliteStatements;
  readonly checks: SqliteRowChecks;
}

/** Does something with the database that is open now; synchronous, and perhaps more than once. */
export type SqliteRead = <Result>(doing: string, work: (session: SqliteSession) => Result) => Promise<Result>;

const CHARS_A_PAGE = 1024 * 1024;

export function createSqliteSession(database: DatabaseSync): SqliteSession {
  return { database, statements: prepareSqliteStatements(database), checks: new SqliteRowChecks() };
}

/** `TrajectoryStore.listRuns`. A run whose summary is damaged is listed with its `problem`. */
export async function listSqliteRuns(read: SqliteRead, query: RunQuery | undefined): Promise<RunPage> {
  const { limit, after, withBytes } = checkRunQuery(query);
  const { runs, bytes } = await read('list', ({ checks, database, statements }) => {
    const place = after === undefined ? ([-Infinity, ''] as const) : ([-after.startedAtMs, after.runId] as const);
    const rows: readonly SqliteRow[] = statements.listRuns.all(...place, limit + 1);
    const bytesOf = withBytes ? sqliteBytesByRow(database) : undefined;
    return {
      runs: rows.map((row) => checks.listedSummary(row)),
      bytes: bytesOf === undefined ? undefined : rows.slice(0, limit).map(bytesOf),
    };
  });
  // Of a damaged index, a page might lead back to where it began, for ever.
  let last = after;
  for (const run of runs) {
    if (last !== undefined && compareRuns(last, run) >= 0) {
      throw storeDamaged({ runId: run.runId }, 'the list of runs is out of order here');
    }
    last = run;
  }
  const page = toRunPage(runs, limit);
  return bytes === undefined ? page : { ...page, bytes };
}

/** `TrajectoryStore.findRun`. */
export async function findSqliteRun(read: SqliteRead, runId: string): Promise<RunSummary | undefined> {
  if (!isRunId(runId)) return undefined;
  return read('read', ({ checks, statements }) => {
    const row = statements.findRun.get(runId);
    return row === undefined ? undefined : checks.listedSummary(row);
  });
}

/**
 * `TrajectoryStore.readRun`: page by page, so that no read keeps a writer's log from being moved for longer than a page. What was
 * read before damage is given before the error. A record that is missing is damage too: one that the summary or a later record
 * says should be there.
 */
export async function* readSqliteRun(
  read: SqliteRead,
  runId: string,
  query?: ReadQuery,
): AsyncGenerator<TrajectoryRecord, void, void> {
  const { fromSeq, limit } = checkReadQuery(query);
  if (!isRunId(runId)) return;
  let nextSeq = fromSeq;
  let left = limit;
  let last: RecordRow | undefined;
  while (left > 0) {
    const page = await read('read', (session) =>
      inOneView(session.database, () => readPage(session, { runId, fromSeq: nextSeq, limit: left, last })),
    );
    for (const [index, row] of page.rows.entries()) {
      const seqBefore = index === 0 ? (page.reachesSeq ?? nextSeq - 1) : nextSeq - 1;
      if (row.seq !== seqBefore + 1) throw storeDamaged({ runId, seq: nextSeq }, 'it is missing in the store');
      const record = parseRecord(row.json);
      nextSeq = lastSeqOf(record) + 1;
      left -= 1;
      yield record;
    }
    last = page.rows.at(-1);
    if (page.isLast) {
      if (left > 0 && !page.isGone)
        checkEnd(runId, { fromSeq, throughSeq: Math.max(nextSeq - 1, page.reachesSeq ?? -1), ...page });
      return;
    }
    await nextTurn();
  }
}

/** Records of a page, with what tells whether one is missing. */
interface RecordPage {
  readonly rows: readonly RecordRow[];
  readonly isLast: boolean;
  /** Where a gap record that began before the page ends, if the page does not begin at its `seq`. */
  readonly reachesSeq?: number | undefined;
  /** Of the last page: the run's last `seq` as its summary has it, undefined without one. */
  readonly endsAtSeq?: number | undefined;
  /** The run was deleted meanwhile; it may have begun again. */
  readonly isGone?: boolean;
}

interface PageQuery {
  readonly runId: string;
  readonly fromSeq: number;
  readonly limit: number;
  /** The last record of the page before. */
  readonly last: RecordRow | undefined;
}

/** Rows worth about `CHARS_A_PAGE`, at least one. No statement stays open between two calls. */
function readPage(session: SqliteSession, { runId, fromSeq, limit, last }: PageQuery): RecordPage {
  const { checks, statements } = session;
  if (last !== undefined && !isStillThere(session, last)) return { rows: [], isLast: true, isGone: true };
  const rows: RecordRow[] = [];
  const pageSoFar = (): RecordPage => {
    const reachesSeq = rows[0]?.seq === fromSeq ? undefined : reachBefore(session, runId, fromSeq);
    return { rows, isLast: false, reachesSeq };
  };
  let chars = 0;
  try {
    for (const row of statements.readRecords.iterate(runId, fromSeq, limit)) {
      const record = checks.record(row);
      // A tree that leads in circles would be read for ever.
      if (record.runId !== runId || record.seq <= (rows.at(-1)?.seq ?? fromSeq - 1)) {
        throw storeDamaged({ runId, seq: record.seq }, 'the records of the run are out of order here');
      }
      rows.push(record);
      chars += record.json.length;
      if (chars > CHARS_A_PAGE) return pageSoFar();
    }
    const row = statements.findRun.get(runId);
    const endsAtSeq = row === undefined ? undefined : checks.summary(row).lastSeq;
    if (rows.length === 0 && (endsAtSeq ?? -1) < fromSeq) return { rows, isLast: true, endsAtSeq };
    return { ...pageSoFar(), isLast: true, endsAtSeq };
  } catch (thrown) {
    // What stands before the damage is given; the next page begins at it.
    if (rows.length === 0) throw thrown;
    return pageSoFar();
  }
}

/** The last `seq` that the record before a place fills: that of a gap may lie behind the place. */
function reachBefore({ checks, statements }: SqliteSession, runId: string, seq: number): number | undefined {
  const row = statements.findRecordBefore.get(runId, seq);
  return row === undefined ? undefined : lastSeqOf(parseRecord(checks.record(row).json));
}

/** False when the run was deleted since the record was read; it may have begun again. */
function isStillThere({ checks, statements }: SqliteSession, last: RecordRow): boolean {
  const row = statements.findRecord.get(last.runId, last.seq);
  return row !== undefined && checks.record(row).json === last.json;
}

function checkEnd(
  runId: string,
  {
    fromSeq,
    throughSeq,
    endsAtSeq,
  }: { readonly fromSeq: number; readonly throughSeq: number; readonly endsAtSeq?: number | undefined },
): void {
  if (endsAtSeq === undefined) {
    if (throughSeq < fromSeq) return;
    throw storeDamaged({ runId }, 'its summary is missing, so its last records may be too');
  }
  if (throughSeq < endsAtSeq && fromSeq <= endsAtSeq) {
    throw storeDamaged({ runId, seq: throughSeq + 1 }, 'it is missing in the store');
  }
  if (throughSeq > endsAtSeq && throughSeq >= fromSeq) {
    throw storeDamaged({ runId, seq: endsAtSeq + 1 }, 'it stands behind the end that the summary of the run gives');
  }
}

/** All that `work` reads is of one moment. */
function inOneView<Result>(database: DatabaseSync, work: () => Result): Result {
  if (database.isTransaction) return work();
  database.exec('BEGIN');
  try {
    return work();
  } finally {
    // SQLite has ended it by itself after some faults.
    if (database.isTransaction) database.exec('COMMIT');
  }
}
