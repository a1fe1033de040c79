import { isRunId } from '../check-batch.ts';
import { rowChecksums, type CheckedTable } from '../row-checksum.ts';
import { messageOf } from '../../base/error.ts';
import { damagedSummary, type RunSummary } from '../run-summary.ts';
import type { SavedSnapshot } from '../stored-run.ts';
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
 * with `RECORD_COLUMNS`, `SUMMARY_COLUMNS` and `SNAPSHOT_COLUMNS`.
 */
export class SqliteRowChecks {
  #runId = '';
  #ofRecords = rowChecksums('records', '');

  /** @throws CoxswainError `store-damaged` */
  record(row: SqliteRow): RecordRow {
    const { run_id: runId, seq, json, checksum } = row;
    if (typeof runId !== 'string' || typeof json !== 'string' || typeof seq !== 'number') {
      throw storeDamaged({ runId: String(runId), seq: Number(seq) }, 'its row is not a record');
    }
    if (checksum !== this.#checksumsOf(runId)(seq, json)) throw storeDamaged({ runId, seq }, BAD_CHECKSUM);
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
    // Its checksum is right, so `SqliteRuns` wrote it.
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
