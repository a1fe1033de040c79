import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** Rows that are looked up at a time. */
const ROWS_A_LOOK = 32;

/** About how long one step holds the file and the event loop. */
const STEP_MS = 4;

/** Pages of the word index that one step merges: about 5 ms. */
const MERGE_PAGES = 8;

/** Pages that one step moves from the end of the file into its holes. */
const VACUUM_PAGES = 64;

/** A segment of the word index of which so many percent are removed is written anew without them (FTS5's own default). */
const REMOVED_PERCENT = 10;

/**
 * Removes runs in small steps, so that neither the event loop nor another process waits for a large one. A run goes out
 * of sight in one transaction and is named in `removed_runs` as long as rows of it are left; nobody gives those rows. Who
 * ends in between leaves them to the next deletion. Every method is called within a transaction.
 */
export class SqliteRemovals {
  readonly #database: DatabaseSync;
  #statements: RemovalStatements | undefined;
  #isHidden: StatementSync | undefined;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Takes a run out of sight. @returns whether anything of it was there */
  hide(runId: string): boolean {
    const { deleteSummary, deleteSnapshot, hideRecords } = this.#prepared();
    const gone = [deleteSummary.run(runId), deleteSnapshot.run(runId), hideRecords.run(runId, runId)];
    return gone.some(({ changes }) => Number(changes) > 0);
  }

  /** Removes rows of a run that is out of sight. @returns how many, or undefined when there is no such run */
  step(): number | undefined {
    const row = this.#prepared().nextHidden.get();
    return row === undefined ? undefined : this.#remove(String(row['run_id']), performance.now() + STEP_MS);
  }

  /** Before a run begins: removes what is left of one of the same id. */
  finish(runId: string): void {
    // By itself: a process that only begins a run needs nothing else of all this.
    this.#isHidden ??= this.#database.prepare('SELECT 1 FROM removed_runs WHERE run_id = ?');
    if (this.#isHidden.get(runId) !== undefined) this.#remove(runId, Infinity);
  }

  /**
   * Writes a part of the word index anew without the records that were removed. @returns false when nothing is left to do
   *
   * The setting is at 0 otherwise: FTS5 would do this by itself, but all at once, within somebody's transaction; with
   * 20,000 records that took up to two seconds.
   */
  mergeIndex(): boolean {
    const { allowMerge, forbidMerge, merge, totalChanges } = this.#prepared();
    allowMerge.run();
    const before = Number(totalChanges.get()?.['changes']);
    merge.run();
    // FTS5 counts the command itself as one.
    const isWorking = Number(totalChanges.get()?.['changes']) - before > 1;
    forbidMerge.run();
    return isWorking;
  }

  /** Makes the file shorter by pages that hold nothing. @returns false when there are none, or it was not made for that */
  shrink(): boolean {
    const { freePages } = this.#prepared();
    const before = Number(freePages.get()?.['freelist_count']);
    if (before > 0) this.#database.exec(`PRAGMA incremental_vacuum(${VACUUM_PAGES})`);
    const after = Number(freePages.get()?.['freelist_count']);
    return after > 0 && after < before;
  }

  #remove(runId: string, untilMs: number): number {
    const { deletePlace, deleteRecord, deleteWords, findIds, lowerIndex, unhide } = this.#prepared();
    let removed = 0;
    let isDone = false;
    while (!isDone && performance.now() < untilMs) {
      const rows = findIds.all(runId, ROWS_A_LOOK);
      for (const { id } of rows) {
        deleteWords.run(Number(id));
        deletePlace.run(Number(id));
        deleteRecord.run(Number(id));
      }
      removed += rows.length;
      isDone = rows.length < ROWS_A_LOOK;
    }
    lowerIndex.run();
    if (isDone) unhide.run(runId);
    return removed;
  }

  /** Late: most processes never remove anything. */
  #prepared(): RemovalStatements {
    return (this.#statements ??= prepareRemovalStatements(this.#database));
  }
}

interface RemovalStatements {
  readonly deleteSummary: StatementSync;
  readonly deleteSnapshot: StatementSync;
  readonly hideRecords: StatementSync;
  readonly nextHidden: StatementSync;
  readonly unhide: StatementSync;
  readonly findIds: StatementSync;
  readonly deleteRecord: StatementSync;
  readonly deletePlace: StatementSync;
  readonly deleteWords: StatementSync;
  readonly lowerIndex: StatementSync;
  readonly allowMerge: StatementSync;
  readonly merge: StatementSync;
  readonly forbidMerge: StatementSync;
  readonly totalChanges: StatementSync;
  readonly freePages: StatementSync;
}

function prepareRemovalStatements(database: DatabaseSync): RemovalStatements {
  return {
    deleteSummary: database.prepare('DELETE FROM runs WHERE run_id = ?'),
    deleteSnapshot: database.prepare('DELETE FROM snapshots WHERE run_id = ?'),
    hideRecords: database.prepare(
      'INSERT OR IGNORE INTO removed_runs (run_id) SELECT ? WHERE EXISTS (SELECT 1 FROM records WHERE run_id = ?)',
    ),
    nextHidden: database.prepare('SELECT run_id FROM removed_runs LIMIT 1'),
    unhide: database.prepare('DELETE FROM removed_runs WHERE run_id = ?'),
    findIds: database.prepare('SELECT id FROM records WHERE run_id = ? ORDER BY seq LIMIT ?'),
    deleteRecord: database.prepare('DELETE FROM records WHERE id = ?'),
    deletePlace: database.prepare('DELETE FROM indexed_records WHERE id = ?'),
    deleteWords: database.prepare('DELETE FROM record_words WHERE rowid = ?'),
    // The layout's own rule for removals: see its comment.
    lowerIndex: database.prepare(
      'UPDATE indexing SET removals = removals + 1, ' +
        'through_id = min(through_id, (SELECT coalesce(max(id), 0) FROM records))',
    ),
    allowMerge: database.prepare(toIndex('deletemerge', REMOVED_PERCENT)),
    merge: database.prepare(toIndex('merge', MERGE_PAGES)),
    forbidMerge: database.prepare(toIndex('deletemerge', 0)),
    totalChanges: database.prepare('SELECT total_changes() AS changes'),
    freePages: database.prepare('PRAGMA freelist_count'),
  };
}

/** SQL of a command to FTS5, which wants whole numbers: a bound one would be a REAL. */
function toIndex(command: string, value: number): string {
  return `INSERT INTO record_words (record_words, rank) VALUES ('${command}', ${value})`;
}
