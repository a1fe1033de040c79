import { present } from '../base/present.ts';
import { messageOf, invalidArgument } from '../base/error.ts';
import { checkBatch, type CheckedBatch } from './check-batch.ts';
import type { RunChange } from './trajectory-store.ts';

/** What a transaction has to store. */
export interface CheckedChange<Result> {
  /** Absent when the fold gave no records. */
  readonly batch?: CheckedBatch;
  /** The JSON of the new snapshot; absent when the saved one stays. */
  readonly snapshotJson?: string;
  readonly result: Result;
}

/**
 * Checks what a fold of `transact` gave, and encodes it.
 *
 * @throws CoxswainError `invalid-argument` for records of another run, a snapshot that JSON cannot say, or a fold that
 *   returned no list of records (such as an asynchronous one), and as `checkBatch`
 */
export function checkChange<Result>(runId: string, change: RunChange<Result>): CheckedChange<Result> {
  // A caller without types may give anything.
  const given: Partial<RunChange<Result>> | undefined = change;
  if (!Array.isArray(given?.records)) {
    throw invalidArgument('a fold gives { records, snapshot?, result } at once; it cannot be asynchronous');
  }
  const batch = change.records.length === 0 ? undefined : checkBatch(change.records);
  if (batch !== undefined && batch.runId !== runId) {
    throw invalidArgument(`a fold of run ${JSON.stringify(runId)} gave records of ${JSON.stringify(batch.runId)}`);
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
    throw invalidArgument(`a snapshot cannot be written as JSON: ${messageOf(cause)}`, { cause });
  }
  if (json === undefined) throw invalidArgument(`a snapshot is plain JSON, got ${typeof snapshot}`);
  return json;
}
