import { isRunId } from '../../core/store/check-batch.ts';
import { rowChecksums, type CheckedTable } from '../../core/store/run-check.ts';
import { messageOf } from '../../core/base/error.ts';
import { damagedSummary, type RunSummary } from '../../core/facts/run-summary.ts';
import type { SavedSnapshot } from '../../core/store/stored-run.ts';
import type { SqliteRow } from './sqlite-statements.ts';
import { storeDamaged } from '../../core/store/store-error.ts';

export interface RecordRow {
  readonly runId: string;
  readonly seq: number;
  readonly json: string;
}

const BAD_CHECKSUM = 'its checksum is wrong';

/** Uses nothing of a row before its checksum is verified. */
export class SqliteRowChecks {
  #runId = '';
  #recordChecksum = rowChecksums('records', '');

  record(row: SqliteRow): RecordRow {
    const { run_id: runId, seq, json, checksum } = row;
    if (typeof runId !== 'string' || typeof json !== 'string' || typeof seq !== 'number') {
      throw storeDamaged({ runId: String(runId), seq: Number(seq) }, 'its row is not a record');
    }
    if (!Number.isSafeInteger(seq)) throw storeDamaged({ runId }, 'its seq is damaged');
    // Consecutive rows are mostly of one run.
    if (runId !== this.#runId) {
      this.#recordChecksum = rowChecksums('records', runId);
      this.#runId = runId;
    }
    if (checksum !== this.#recordChecksum(seq, json)) throw storeDamaged({ runId, seq }, BAD_CHECKSUM);
    return { runId, seq, json };
  }

  summary(row: SqliteRow): RunSummary {
    const { run_id: runId, summary: json, checksum } = row;
    if (typeof runId !== 'string' || typeof json !== 'string') {
      throw storeDamaged({ runId: String(runId) }, 'its row is not a summary');
    }
    if (!isIntact('runs', { runId, place: 0, text: json, checksum })) {
      throw storeDamaged({ runId }, `its summary: ${BAD_CHECKSUM}`);
    }
    if (!Number.isSafeInteger(row['chars'])) throw storeDamaged({ runId }, 'its size is damaged');
    let summary: unknown;
    try {
      summary = JSON.parse(json);
    } catch {
      throw storeDamaged({ runId }, 'its summary is not JSON');
    }
    // Its checksum is correct, so `SqliteRuns` wrote it.
    const storedSummary = summary as RunSummary;
    if (storedSummary.runId !== runId || row['minus_started_ms'] !== 0 - storedSummary.startedAtMs) {
      throw storeDamaged({ runId }, 'its id or start time differs from its summary');
    }
    return storedSummary;
  }

  /** The summary, or for a damaged one an empty summary with its `problem`. */
  listedSummary(row: SqliteRow): RunSummary {
    try {
      return this.summary(row);
    } catch (thrown) {
      return damagedSummary(String(row['run_id']), messageOf(thrown), 0 - Number(row['minus_started_ms']));
    }
  }

  snapshot(row: SqliteRow): SavedSnapshot {
    const { run_id: runId, covers_seq: coversSeq, json, checksum } = row;
    if (typeof runId !== 'string' || typeof json !== 'string' || typeof coversSeq !== 'number') {
      throw storeDamaged({ runId: String(runId) }, 'its row is not a snapshot');
    }
    if (!isIntact('snapshots', { runId, place: coversSeq, text: json, checksum })) {
      throw storeDamaged({ runId }, `its snapshot: ${BAD_CHECKSUM}`);
    }
    return { coversSeq, json };
  }
}

function isIntact(
  table: CheckedTable,
  row: { readonly runId: string; readonly place: number; readonly text: string; readonly checksum: unknown },
): boolean {
  const { runId, place, text, checksum } = row;
  return isRunId(runId) && checksum === rowChecksums(table, runId)(place, text);
}
