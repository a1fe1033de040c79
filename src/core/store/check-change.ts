import { present } from '../base/present.ts';
import { messageOf, invalidArgument } from '../base/error.ts';
import { checkBatch, type CheckedBatch } from './check-batch.ts';
import type { RunChange } from './trajectory-store.ts';

/** The checked and encoded change of a transaction. */
export interface CheckedChange<Result> {
  /** Absent if there are no records. */
  readonly batch?: CheckedBatch;
  /** JSON of the new snapshot. Absent if the saved snapshot is kept. */
  readonly snapshotJson?: string;
  readonly result: Result;
}

/**
 * Checks and encodes the result of a `transact` fold.
 *
 * @throws CoxswainError `invalid-argument` for records of another run, a snapshot that cannot be encoded as JSON, or a result
 *   without a list of records (such as a promise), and as `checkBatch`
 */
export function checkChange<Result>(runId: string, change: RunChange<Result>): CheckedChange<Result> {
  // A JavaScript caller may return a value of any type.
  const untyped: Partial<RunChange<Result>> | undefined = change;
  if (!Array.isArray(untyped?.records)) {
    throw invalidArgument('a fold must return { records, snapshot?, result } synchronously');
  }
  const batch = change.records.length === 0 ? undefined : checkBatch(change.records);
  if (batch !== undefined && batch.runId !== runId) {
    throw invalidArgument(`a fold of run ${JSON.stringify(runId)} returned records of ${JSON.stringify(batch.runId)}`);
  }
  return {
    result: change.result,
    ...present({ batch }),
    ...(change.snapshot !== undefined && { snapshotJson: encodeSnapshot(change.snapshot) }),
  };
}

function encodeSnapshot(snapshot: unknown): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(snapshot);
  } catch (cause) {
    throw invalidArgument(`a snapshot cannot be encoded as JSON: ${messageOf(cause)}`, { cause });
  }
  if (json === undefined) throw invalidArgument(`a snapshot must be plain JSON, got ${typeof snapshot}`);
  return json;
}
