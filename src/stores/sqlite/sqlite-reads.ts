import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { parseRecord } from '../../core/records/decode-record.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { isRunId } from '../../core/store/check-batch.ts';
import { checkReadQuery } from '../../core/store/page-cursor.ts';
import { checkRunQuery, compareRuns, toRunPage } from '../../core/store/run-page.ts';
import { lastSeqOf, type RunSummary } from '../../core/facts/run-summary.ts';
import { SqliteRowChecks, type RecordRow } from './sqlite-row-checks.ts';
import {
  inOneView,
  prepareSqliteStatements,
  type SqliteRow,
  type SqliteStatements,
  lazyStatements,
  type Statements,
} from './sqlite-statements.ts';
import { storeDamaged } from '../../core/store/store-error.ts';
import type { ReadQuery, RunPage, RunQuery } from '../../core/store/trajectory-store.ts';

/** Number of rows that are looked up at a time. */
const ROWS_PER_LOOKUP = 32;

/** Approximate time in milliseconds for which one step blocks the file and the event loop. */
const STEP_MS = 4;

/** Pages of the word index that one step merges: about 5 ms. */
const MERGE_PAGES = 8;

/** Pages that one step moves from the end of the file into holes. */
const VACUUM_PAGES = 64;

/** A segment of the word index is rewritten once this percentage of it is removed (FTS5's default). */
const REMOVED_PERCENT = 10;

const SQL = {
  deleteSummary: 'DELETE FROM runs WHERE run_id = ?',
  deleteSnapshot: 'DELETE FROM snapshots WHERE run_id = ?',
  hideRecords:
    'INSERT OR IGNORE INTO removed_runs (run_id) SELECT ?1 WHERE EXISTS (SELECT 1 FROM records WHERE run_id = ?1)',
  isHidden: 'SELECT 1 FROM removed_runs WHERE run_id = ?',
  nextHidden: 'SELECT run_id FROM removed_runs LIMIT 1',
  unhide: 'DELETE FROM removed_runs WHERE run_id = ?',
  findIds: 'SELECT id FROM records WHERE run_id = ? ORDER BY seq LIMIT ?',
  deleteRecord: 'DELETE FROM records WHERE id = ?',
  deletePlace: 'DELETE FROM indexed_records WHERE id = ?',
  deleteWords: 'DELETE FROM record_words WHERE rowid = ?',
  // The schema's rule for removals: see its comment.
  lowerIndex:
    'UPDATE indexing SET removals = removals + 1, ' +
    'through_id = min(through_id, (SELECT coalesce(max(id), 0) FROM records))',
  allowMerge: indexCommandSql('deletemerge', REMOVED_PERCENT),
  merge: indexCommandSql('merge', MERGE_PAGES),
  forbidMerge: indexCommandSql('deletemerge', 0),
  totalChanges: 'SELECT total_changes() AS changes',
  freePages: 'PRAGMA freelist_count',
};

/**
 * Small steps, so that neither the event loop nor another process waits for a large run. `removed_runs` hides it until
 * its last row is deleted; the next deletion continues an interrupted one. Every method runs inside a transaction.
 */
class SqliteRemovals {
  readonly #database: DatabaseSync;
  readonly #statements: Statements<keyof typeof SQL>;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#statements = lazyStatements(database, SQL);
  }

  /** Hides a run. Returns whether anything of it was stored. */
  hide(runId: string): boolean {
    const { deleteSummary, deleteSnapshot, hideRecords } = this.#statements;
    const results = [deleteSummary, deleteSnapshot, hideRecords].map((statement) => statement.run(runId));
    return results.some(({ changes }) => Number(changes) > 0);
  }

  /** Deletes rows of a hidden run. Returns the number of deleted rows, or undefined if no run is hidden. */
  deleteStep(): number | undefined {
    const row = this.#statements.nextHidden.get();
    return row === undefined ? undefined : this.#deleteRows(String(row['run_id']), performance.now() + STEP_MS);
  }

  /** Before a run begins: deletes the remaining rows of a removed run of the same id. */
  deleteRemainingRows(runId: string): void {
    if (this.#statements.isHidden.get(runId) !== undefined) this.#deleteRows(runId, Infinity);
  }

  /**
   * @returns false when nothing is left to do. By itself, FTS5 would merge all at once and inside another transaction,
   * which took up to two seconds with 20,000 records.
   */
  mergeIndex(): boolean {
    const { allowMerge, forbidMerge, merge, totalChanges } = this.#statements;
    allowMerge.run();
    const changesBefore = Number(totalChanges.get()?.['changes']);
    merge.run();
    // FTS5 counts the command itself as one change.
    const hasMerged = Number(totalChanges.get()?.['changes']) - changesBefore > 1;
    forbidMerge.run();
    return hasMerged;
  }

  /** Truncates the file by free pages. Returns false when none is left, or the file does not support it. */
  shrink(): boolean {
    const { freePages } = this.#statements;
    const pagesBefore = Number(freePages.get()?.['freelist_count']);
    if (pagesBefore > 0) this.#database.exec(`PRAGMA incremental_vacuum(${VACUUM_PAGES})`);
    const pagesAfter = Number(freePages.get()?.['freelist_count']);
    return pagesAfter > 0 && pagesAfter < pagesBefore;
  }

  #deleteRows(runId: string, untilMs: number): number {
    const { deletePlace, deleteRecord, deleteWords, findIds, lowerIndex, unhide } = this.#statements;
    let removedCount = 0;
    let isComplete = false;
    while (!isComplete && performance.now() < untilMs) {
      const ids = findIds.all(runId, ROWS_PER_LOOKUP).map(({ id }) => Number(id));
      for (const id of ids) for (const statement of [deleteWords, deletePlace, deleteRecord]) statement.run(id);
      removedCount += ids.length;
      isComplete = ids.length < ROWS_PER_LOOKUP;
    }
    lowerIndex.run();
    if (isComplete) unhide.run(runId);
    return removedCount;
  }
}

/** SQL of a command to FTS5, which requires integers: a bound number would be a REAL. */
function indexCommandSql(command: string, value: number): string {
  return `INSERT INTO record_words (record_words, rank) VALUES ('${command}', ${value})`;
}

export interface SqliteSession {
  readonly database: DatabaseSync;
  readonly statements: SqliteStatements;
  readonly removals: SqliteRemovals;
  readonly checks: SqliteRowChecks;
}

/** Runs the synchronous `work` on the open database, again if another process changed the file meanwhile. Error messages name `action`. */
export type SqliteRead = <Result>(action: string, work: (session: SqliteSession) => Result) => Promise<Result>;

const CHARS_A_PAGE = 1024 * 1024;

export function createSqliteSession(database: DatabaseSync): SqliteSession {
  return {
    database,
    statements: prepareSqliteStatements(database),
    removals: new SqliteRemovals(database),
    checks: new SqliteRowChecks(),
  };
}

/** Returns the bytes of the pages in use, without free pages and the log. Cost: reads three numbers. */
export function sqliteBytes(database: DatabaseSync): number {
  const pragma = (name: string): number => Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
  return (pragma('page_count') - pragma('freelist_count')) * pragma('page_size');
}

/** Divides those bytes among the rows of `runs` by the length of their records. Cost: a read of each row of `runs`. */
function sqliteBytesByRow(database: DatabaseSync): (row: SqliteRow) => number {
  const bytes = sqliteBytes(database);
  const allChars = Number(database.prepare('SELECT total(chars) AS chars FROM runs').get()?.['chars']);
  return (row) => (allChars === 0 ? 0 : Math.floor((bytes * Number(row['chars'])) / allChars));
}

export async function listSqliteRuns(read: SqliteRead, query: RunQuery | undefined): Promise<RunPage> {
  const { limit, after, withBytes } = checkRunQuery(query);
  const { runs, bytes } = await read('list', ({ checks, database, statements }) => {
    const startAfter = after === undefined ? ([-Infinity, ''] as const) : ([-after.startedAtMs, after.runId] as const);
    const rows: readonly SqliteRow[] = statements.listRuns.all(...startAfter, limit + 1);
    const bytesOf = withBytes ? sqliteBytesByRow(database) : undefined;
    return {
      runs: rows.map((row) => checks.listedSummary(row)),
      bytes: bytesOf === undefined ? undefined : rows.slice(0, limit).map(bytesOf),
    };
  });
  // A damaged index could lead back to an earlier page, forever.
  let previousRun = after;
  for (const run of runs) {
    if (previousRun !== undefined && compareRuns(previousRun, run) >= 0) {
      throw storeDamaged({ runId: run.runId }, 'the list of runs is out of order here');
    }
    previousRun = run;
  }
  const page = toRunPage(runs, limit);
  return bytes === undefined ? page : { ...page, bytes };
}

export async function findSqliteRun(read: SqliteRead, runId: string): Promise<RunSummary | undefined> {
  if (!isRunId(runId)) return undefined;
  return read('read', ({ checks, statements }) => {
    const row = statements.findRun.get(runId);
    return row === undefined ? undefined : checks.listedSummary(row);
  });
}

/** Page by page, for short reads. Yields the records before damage, or before a missing one, then throws. */
export async function* readSqliteRun(
  read: SqliteRead,
  runId: string,
  query?: ReadQuery,
): AsyncGenerator<TrajectoryRecord, void, void> {
  const { fromSeq, limit } = checkReadQuery(query);
  if (!isRunId(runId)) return;
  let nextSeq = fromSeq;
  let remaining = limit;
  let lastRow: RecordRow | undefined;
  while (remaining > 0) {
    const page = await read('read', (session) =>
      inOneView(session.database, () => readPage(session, runId, { fromSeq: nextSeq, limit: remaining }, lastRow)),
    );
    for (const [index, row] of page.rows.entries()) {
      const seqBefore = index === 0 ? (page.endSeqBefore ?? nextSeq - 1) : nextSeq - 1;
      if (row.seq !== seqBefore + 1) throw storeDamaged({ runId, seq: nextSeq }, 'it is missing');
      const record = parseRecord(row.json);
      nextSeq = lastSeqOf(record) + 1;
      remaining -= 1;
      yield record;
    }
    lastRow = page.rows.at(-1);
    if (page.isLast) {
      if (remaining > 0 && !page.isGone)
        checkEnd(runId, fromSeq, Math.max(nextSeq - 1, page.endSeqBefore ?? -1), page.summaryEndSeq);
      return;
    }
    await nextTurn();
  }
}

/** A page of records, with the data that is needed to detect a missing record. */
interface RecordPage {
  readonly rows: readonly RecordRow[];
  readonly isLast: boolean;
  /** The last `seq` filled by the record before the page, unless the page begins at `fromSeq`. */
  readonly endSeqBefore?: number | undefined;
  /** On the last page: the run's last `seq` according to its summary. */
  readonly summaryEndSeq?: number | undefined;
  /** True if the run was deleted since the previous page. A new run may have the same id. */
  readonly isGone?: boolean;
}

function readPage(
  session: SqliteSession,
  runId: string,
  { fromSeq, limit }: Required<ReadQuery>,
  lastRow: RecordRow | undefined,
): RecordPage {
  const { checks, statements } = session;
  if (lastRow !== undefined && !isUnchanged(session, lastRow)) return { rows: [], isLast: true, isGone: true };
  const rows: RecordRow[] = [];
  const partialPage = (): RecordPage => {
    const endSeqBefore = rows[0]?.seq === fromSeq ? undefined : lastSeqBefore(session, runId, fromSeq);
    return { rows, isLast: false, endSeqBefore };
  };
  let chars = 0;
  try {
    for (const row of statements.readRecords.iterate(runId, fromSeq, limit)) {
      const record = checks.record(row);
      // Without this check, a circular B-tree would be read forever.
      if (record.runId !== runId || record.seq <= (rows.at(-1)?.seq ?? fromSeq - 1)) {
        throw storeDamaged({ runId, seq: record.seq }, 'the records of the run are out of order here');
      }
      rows.push(record);
      chars += record.json.length;
      if (chars > CHARS_A_PAGE) return partialPage();
    }
    const row = statements.findRun.get(runId);
    const summaryEndSeq = row === undefined ? undefined : checks.summary(row).lastSeq;
    if (rows.length === 0 && (summaryEndSeq ?? -1) < fromSeq) return { rows, isLast: true, summaryEndSeq };
    return { ...partialPage(), isLast: true, summaryEndSeq };
  } catch (thrown) {
    clearFault(statements);
    // The rows before the damage are returned. The next page starts at the damage.
    if (rows.length === 0) throw thrown;
    return partialPage();
  }
}

/** `node:sqlite` throws the fault of a statement again at its next use. */
function clearFault({ readRecords }: SqliteStatements): void {
  try {
    readRecords.get('', 0, 0);
  } catch {
    // The fault that was thrown before.
  }
}

/** The last `seq` filled by the record before a `seq`; a gap record may reach beyond it. */
function lastSeqBefore({ checks, statements }: SqliteSession, runId: string, seq: number): number | undefined {
  const row = statements.findRecordBefore.get(runId, seq);
  return row === undefined ? undefined : lastSeqOf(parseRecord(checks.record(row).json));
}

/** False if the run was deleted since the record was read; it may have begun again. */
function isUnchanged({ checks, statements }: SqliteSession, lastRow: RecordRow): boolean {
  const row = statements.findRecord.get(lastRow.runId, lastRow.seq);
  return row !== undefined && checks.record(row).json === lastRow.json;
}

function checkEnd(runId: string, fromSeq: number, throughSeq: number, summaryEndSeq: number | undefined): void {
  if (summaryEndSeq === undefined) {
    if (throughSeq < fromSeq) return;
    throw storeDamaged({ runId }, 'its summary is missing, so its last records may be missing too');
  }
  if (throughSeq < summaryEndSeq && fromSeq <= summaryEndSeq) {
    throw storeDamaged({ runId, seq: throughSeq + 1 }, 'it is missing');
  }
  if (throughSeq > summaryEndSeq && throughSeq >= fromSeq) {
    throw storeDamaged({ runId, seq: summaryEndSeq + 1 }, 'it is after the end of the run according to its summary');
  }
}
