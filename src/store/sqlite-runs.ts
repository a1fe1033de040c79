import { parseRecord } from '../events/decode-record.ts';
import type { TrajectoryRecord } from '../events/trajectory-record.ts';
import type { CheckedBatch } from './check-batch.ts';
import { checkChange } from './check-change.ts';
import { planAppend, type AppendPlan } from './plan-append.ts';
import type { RunSummary } from './run-summary.ts';
import { createRunView } from './run-view.ts';
import { ROWS_AN_INSERT, toRecordRow, toSnapshot, toSummary, type SqliteStatements } from './sqlite-statements.ts';
import { toStoreError } from './store-error.ts';
import type { RunChange, RunView } from './trajectory-store.ts';

/** What a SQLite store does with runs inside a transaction that somebody else begins and commits. */
export class SqliteRuns {
  readonly #statements: SqliteStatements;
  readonly #path: string;

  /** @param path  of the database, for messages */
  constructor(statements: SqliteStatements, path: string) {
    this.#statements = statements;
    this.#path = path;
  }

  summaryOf(runId: string): RunSummary | undefined {
    const row = this.#statements.findRun.get(runId);
    return row === undefined ? undefined : toSummary(row);
  }

  /** All records after that `seq`, in memory. */
  recordsAfter(runId: string, seq: number): readonly TrajectoryRecord[] {
    const rows = this.#statements.readRecords.all(runId, seq + 1, Number.MAX_SAFE_INTEGER);
    return rows.map((row) => parseRecord(toRecordRow(row).json));
  }

  /** @throws CoxswainError `store-gap` or `store-conflict` */
  planAppend(batch: CheckedBatch): AppendPlan {
    return planAppend(batch, this.summaryOf(batch.runId), (seq) => {
      const row = this.#statements.findRecord.get(batch.runId, seq);
      return row === undefined ? undefined : toRecordRow(row).json;
    });
  }

  /** @returns the last `seq` stored for the run */
  store({ fresh, summary, stored }: AppendPlan): number {
    if (fresh.length === 0) return summary.lastSeq;
    if (stored === undefined) this.#statements.removals.finish(summary.runId);
    const chars = this.#insert(summary.runId, fresh);
    const summaryJson = JSON.stringify(summary);
    if (stored?.startedAtMs === summary.startedAtMs)
      this.#statements.saveSummary.run(summaryJson, chars, summary.runId);
    else this.#statements.saveRun.run(summary.runId, -summary.startedAtMs, summaryJson, chars);
    return summary.lastSeq;
  }

  /** @returns characters of JSON inserted */
  #insert(runId: string, fresh: AppendPlan['fresh']): number {
    const statements = this.#statements;
    const whole = fresh.length - (fresh.length % ROWS_AN_INSERT);
    let chars = 0;
    let values: (string | number)[] = [];
    for (const [index, { seq, json }] of fresh.entries()) {
      chars += json.length;
      if (index >= whole) {
        statements.insertRecord.run(runId, seq, json);
        continue;
      }
      values.push(runId, seq, json);
      if (values.length < 3 * ROWS_AN_INSERT) continue;
      statements.insertRecords.run(...values);
      values = [];
    }
    return chars;
  }

  /**
   * Reads what `transact` reads and folds it.
   *
   * @returns stores what the fold gave, and answers its result
   * @throws what `fold` throws, as it is, and as `append`
   */
  planTransaction<Result>(runId: string, fold: (view: RunView) => RunChange<Result>): () => Result {
    const summary = this.summaryOf(runId);
    const snapshotRow = this.#statements.findSnapshot.get(runId);
    const snapshot = snapshotRow === undefined ? undefined : toSnapshot(snapshotRow);
    const view = createRunView({ summary, snapshot }, (seq) => {
      try {
        return this.recordsAfter(runId, seq);
      } catch (thrown) {
        throw toStoreError(thrown, `read ${this.#path}`);
      }
    });
    const { batch, snapshotJson, result } = checkChange(runId, fold(view));
    const plan = batch === undefined ? undefined : this.planAppend(batch);
    return () => {
      const lastSeq = plan === undefined ? (summary?.lastSeq ?? -1) : this.store(plan);
      if (snapshotJson !== undefined) this.#statements.saveSnapshot.run(runId, lastSeq, snapshotJson);
      return result;
    };
  }
}
