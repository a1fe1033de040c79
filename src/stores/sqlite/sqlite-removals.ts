import type { DatabaseSync } from 'node:sqlite';

import { lazyStatements, type Statements } from './sqlite-statements.ts';

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
 * Removes runs in small steps, so that neither the event loop nor another process waits for a large one. One transaction hides a
 * run; `removed_runs` names it until its last row is deleted, and no reader returns those rows. An interrupted removal
 * continues with the next deletion. Every method runs inside a transaction.
 */
export class SqliteRemovals {
  readonly #database: DatabaseSync;
  readonly #statements: Statements<keyof typeof SQL>;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#statements = lazyStatements(database, SQL);
  }

  /** Hides a run. @returns whether anything of it was stored */
  hide(runId: string): boolean {
    const { deleteSummary, deleteSnapshot, hideRecords } = this.#statements;
    const results = [deleteSummary, deleteSnapshot, hideRecords].map((statement) => statement.run(runId));
    return results.some(({ changes }) => Number(changes) > 0);
  }

  /** Deletes rows of a hidden run. @returns the number of deleted rows, or undefined if no run is hidden */
  deleteStep(): number | undefined {
    const row = this.#statements.nextHidden.get();
    return row === undefined ? undefined : this.#deleteRows(String(row['run_id']), performance.now() + STEP_MS);
  }

  /** Before a run begins: deletes the remaining rows of a removed run of the same id. */
  deleteRemainingRows(runId: string): void {
    if (this.#statements.isHidden.get(runId) !== undefined) this.#deleteRows(runId, Infinity);
  }

  /**
   * Rewrites part of the word index without the removed records. @returns false when nothing is left to do
   *
   * The setting is 0 otherwise: FTS5 would merge by itself, all at once and inside another transaction, which took up to two
   * seconds with 20,000 records.
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

  /** Truncates the file by free pages. @returns false when none is left, or the file does not support it */
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
