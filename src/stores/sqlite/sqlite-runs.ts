import { parseRecord } from '../../core/records/decode-record.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { type CheckedBatch, checkChange } from '../../core/store/check-batch.ts';
import { planAppend, type AppendPlan } from '../../core/store/plan-append.ts';
import { foldRunSummaries, lastSeqOf, type RunSummary } from '../../core/facts/run-summary.ts';
import { createStoredRun, type SavedSnapshot } from '../../core/store/stored-run.ts';
import { rowChecksums } from '../../core/store/run-check.ts';
import type { SqliteSession } from './sqlite-reads.ts';
import { ROWS_AN_INSERT } from './sqlite-statements.ts';
import { isDamaged, storeDamaged, toStoreError } from '../../core/store/store-error.ts';
import type { RunChange, StoredRun } from '../../core/store/trajectory-store.ts';

/** Writes runs inside a transaction that the caller begins and commits. */
export class SqliteRuns {
  readonly #session: SqliteSession;
  readonly #path: string;

  constructor(session: SqliteSession, path: string) {
    this.#session = session;
    this.#path = path;
  }

  planAppend(batch: CheckedBatch): AppendPlan {
    return planAppend(batch, this.#summaryOf(batch.runId), (seq) => {
      const row = this.#session.statements.findRecord.get(batch.runId, seq);
      return row === undefined ? undefined : this.#session.checks.record(row).json;
    });
  }

  storePlan({ fresh, summary, stored }: AppendPlan): number {
    if (fresh.length === 0) return summary.lastSeq;
    const { runId, startedAtMs, lastSeq } = summary;
    const { removals, statements } = this.#session;
    if (stored === undefined) removals.deleteRemainingRows(runId);
    const chars = this.#insert(runId, fresh);
    const json = JSON.stringify(summary);
    const checksum = rowChecksums('runs', runId)(0, json);
    if (stored?.startedAtMs === startedAtMs) statements.saveSummary.run(json, chars, checksum, runId);
    else statements.saveRun.run(runId, 0 - startedAtMs, json, chars, checksum);
    return lastSeq;
  }

  /** Returns what stores the change and returns the fold's result. Throws what `fold` throws, and as `append`. */
  planTransaction<Result>(runId: string, fold: (view: StoredRun) => RunChange<Result>): () => Result {
    const summary = this.#attemptRead(() => this.#summaryOf(runId));
    const snapshot = this.#attemptRead(() => this.#snapshotOf(runId, summary?.lastSeq ?? -1));
    const view = createStoredRun({ summary, snapshot }, (seq) =>
      this.#attemptRead(() => this.#recordsAfter(runId, seq)),
    );
    const { batch, snapshotJson, result } = checkChange(runId, fold(view));
    const plan = batch === undefined ? undefined : this.planAppend(batch);
    return () => {
      const lastSeq = plan === undefined ? (summary?.lastSeq ?? -1) : this.storePlan(plan);
      if (snapshotJson !== undefined) {
        const checksum = rowChecksums('snapshots', runId)(lastSeq, snapshotJson);
        this.#session.statements.saveSnapshot.run(runId, lastSeq, snapshotJson, checksum);
      }
      return result;
    };
  }

  /** A damaged one is rebuilt from the records. Throws CoxswainError `store-damaged` if a record is damaged too. */
  #summaryOf(runId: string): RunSummary | undefined {
    const { checks, statements } = this.#session;
    const row = statements.findRun.get(runId);
    if (row === undefined) return undefined;
    try {
      return checks.summary(row);
    } catch (thrown) {
      if (!isDamaged(thrown)) throw thrown;
      const records = this.#recordsAfter(runId, -1);
      if (records.length === 0) throw thrown;
      return foldRunSummaries(undefined, records);
    }
  }

  /** @throws CoxswainError `store-damaged` if one is damaged or missing in between */
  #recordsAfter(runId: string, seq: number): readonly TrajectoryRecord[] {
    const { checks, statements } = this.#session;
    const records: TrajectoryRecord[] = [];
    let nextSeq = seq + 1;
    for (const row of statements.readRecords.iterate(runId, nextSeq, Number.MAX_SAFE_INTEGER)) {
      const storedRecord = checks.record(row);
      if (storedRecord.runId !== runId || storedRecord.seq !== nextSeq)
        throw storeDamaged({ runId, seq: nextSeq }, 'it is missing');
      const record = parseRecord(storedRecord.json);
      nextSeq = lastSeqOf(record) + 1;
      records.push(record);
    }
    return records;
  }

  /** A damaged snapshot is null, so that the caller folds the records instead. */
  #snapshotOf(runId: string, lastSeq: number): SavedSnapshot | undefined {
    const { checks, statements } = this.#session;
    const row = statements.findSnapshot.get(runId);
    if (row === undefined) return undefined;
    try {
      const snapshot = checks.snapshot(row);
      if (snapshot.coversSeq <= lastSeq) return snapshot;
    } catch (thrown) {
      if (!isDamaged(thrown)) throw thrown;
    }
    return { coversSeq: lastSeq, json: 'null' };
  }

  #insert(runId: string, fresh: AppendPlan['fresh']): number {
    const { insertRecord, insertRecords } = this.#session.statements;
    const checksum = rowChecksums('records', runId);
    for (let from = 0; from < fresh.length; from += ROWS_AN_INSERT) {
      const rows = fresh
        .slice(from, from + ROWS_AN_INSERT)
        .map(({ seq, json }): [string, number, string, number] => [runId, seq, json, checksum(seq, json)]);
      if (rows.length === ROWS_AN_INSERT) insertRecords.run(...rows.flat());
      else for (const row of rows) insertRecord.run(...row);
    }
    return fresh.reduce((chars, { json }) => chars + json.length, 0);
  }

  /** Distinguishes faults of reading from errors that the fold throws. */
  #attemptRead<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (thrown) {
      throw toStoreError(thrown, `read ${this.#path}`);
    }
  }
}
