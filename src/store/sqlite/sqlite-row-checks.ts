import type { DatabaseSync } from 'node:sqlite';

import { isRunId } from '../check-batch.ts';
import { rowChecksums, type CheckedTable } from '../row-checksum.ts';
import { messageOf } from '../../base/error.ts';
import { damagedSummary, type RunSummary } from '../run-summary.ts';
import type { SavedSnapshot } from '../stored-run.ts';
import { CHECKED_LAYOUT } from './sqlite-migrations.ts';
import type { SqliteRow } from './sqlite-statements.ts';
import { storeDamaged } from '../store-error.ts';

/** A stored record whose checksum is right, not decoded. */
export interface RecordRow {
  readonly runId: string;
  readonly seq: number;
  readonly json: string;
}

const BAD_CHECKSUM = 'it is not as it was written (its checksum does not fit)';

/**
 * The one way from a row of a SQLite store to what it says: nothing of a row is used before its checksum is right. Takes rows
 * with the columns of `recordColumns`, `runColumns` and `snapshotColumns`.
 */
export class SqliteRowChecks {
  readonly #database: DatabaseSync;
  readonly #layout: number;
  #uncheckedThroughId: number | undefined;
  #runId = '';
  #ofRecords = rowChecksums('records', '');

  constructor(database: DatabaseSync, layout: number) {
    this.#database = database;
    this.#layout = layout;
  }

  /** Records up to this row id were written before there were checksums; 0: every record has one. */
  get uncheckedThroughId(): number {
    if (this.#layout < CHECKED_LAYOUT) return Infinity;
    this.#uncheckedThroughId ??= Number(
      this.#database.prepare('SELECT unchecked_through_id AS id FROM indexing').get()?.['id'] ?? 0,
    );
    return this.#uncheckedThroughId;
  }

  /** @throws CoxswainError `store-damaged` */
  record(row: SqliteRow): RecordRow {
    const { run_id: runId, seq, json, checksum } = row;
    if (typeof runId !== 'string' || typeof json !== 'string' || typeof seq !== 'number') {
      throw storeDamaged({ runId: String(runId), seq: Number(seq) }, 'its row is not a record');
    }
    const mayLackOne = checksum === null && Number(row['id']) <= this.uncheckedThroughId;
    if (!mayLackOne && checksum !== this.#checksumsOf(runId)(seq, json)) {
      throw storeDamaged({ runId, seq }, BAD_CHECKSUM);
    }
    return { runId, seq, json };
  }

  /** @throws CoxswainError `store-damaged` */
  summary(row: SqliteRow): RunSummary {
    const { run_id: runId, summary: json } = row;
    if (typeof runId !== 'string' || typeof json !== 'string') {
      throw storeDamaged({ runId: String(runId) }, 'its row is not a summary');
    }
    this.#check('runs', { runId, place: 0, text: json, checksum: row['checksum'] });
    let summary: unknown;
    try {
      summary = JSON.parse(json);
    } catch {
      throw storeDamaged({ runId }, 'its summary is not JSON');
    }
    // Its checksum is right, so `SqliteRuns` wrote it; one without a checksum comes from a file that was made so by an earlier version.
    const found = summary as RunSummary;
    if (found.runId !== runId || row['minus_started_ms'] !== 0 - found.startedAtMs) {
      throw storeDamaged({ runId }, 'it is listed under another time or id than its summary says');
    }
    return found;
  }

  /** The summary; of a damaged one a stand-in that counts nothing and names the `problem`. */
  listedSummary(row: SqliteRow): RunSummary {
    try {
      return this.summary(row);
    } catch (thrown) {
      return damagedSummary(String(row['run_id']), messageOf(thrown), 0 - Number(row['minus_started_ms']));
    }
  }

  /** @throws CoxswainError `store-damaged` */
  snapshot(row: SqliteRow): SavedSnapshot {
    const { run_id: runId, covers_seq: coversSeq, json } = row;
    if (typeof runId !== 'string' || typeof json !== 'string' || typeof coversSeq !== 'number') {
      throw storeDamaged({ runId: String(runId) }, 'its row is not a snapshot');
    }
    this.#check('snapshots', { runId, place: coversSeq, text: json, checksum: row['checksum'] });
    return { coversSeq, json };
  }

  #check(
    table: CheckedTable,
    row: { readonly runId: string; readonly place: number; readonly text: string; readonly checksum: unknown },
  ): void {
    const { runId, place, text, checksum } = row;
    if (checksum === null && this.uncheckedThroughId > 0) return;
    if (!isRunId(runId) || checksum !== rowChecksums(table, runId)(place, text)) {
      throw storeDamaged(
        { runId },
        table === 'runs' ? `its summary: ${BAD_CHECKSUM}` : `its snapshot: ${BAD_CHECKSUM}`,
      );
    }
  }

  /** Rows come run by run, mostly. */
  #checksumsOf(runId: string): (seq: number, json: string) => number {
    if (runId === this.#runId) return this.#ofRecords;
    this.#ofRecords = rowChecksums('records', runId);
    this.#runId = runId;
    return this.#ofRecords;
  }
}
