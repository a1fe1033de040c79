import { invalidArgument, messageOf } from '../base/error.ts';
import { hashText } from '../base/hash.ts';
import { toJson } from '../base/to-json.ts';
import { decodeRecord, encodeRecord, toStoredRecord } from '../records/decode-record.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import { lastSeqOf } from '../facts/run-summary.ts';
import { MAX_BATCH_RECORDS, MAX_RUN_ID_CHARS, type RunChange } from './trajectory-store.ts';
import { present } from '../base/json.ts';

const READABLE_ID_CHARS = 100;

export interface EncodedRecord {
  readonly seq: number;
  readonly record: TrajectoryRecord;
  readonly json: string;
}

export interface CheckedBatch {
  readonly runId: string;
  readonly records: readonly EncodedRecord[];
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly chars: number;
}

/** Everything that passes can be read back. Throws CoxswainError as documented at `append`. */
export function checkBatch(batch: readonly TrajectoryRecord[]): CheckedBatch {
  const first = batch[0];
  if (first === undefined || batch.length > MAX_BATCH_RECORDS) {
    throw invalidArgument(`a batch must contain 1 to ${MAX_BATCH_RECORDS} records, got ${batch.length}`);
  }
  const runId = checkRunId(first.run_id);
  const records: EncodedRecord[] = [];
  let nextSeq = first.seq;
  let chars = 0;
  for (const record of batch) {
    decodeRecord(toStoredRecord(record));
    if (record.run_id !== runId) {
      throw invalidArgument(
        `a batch must contain records of one run, got ${JSON.stringify(runId)} and ${JSON.stringify(record.run_id)}`,
      );
    }
    if (record.seq !== nextSeq)
      throw invalidArgument(`the records of a batch must be consecutive: expected seq ${nextSeq}, got ${record.seq}`);
    const json = encodeRecord(record);
    records.push({ seq: record.seq, record, json });
    chars += json.length;
    nextSeq = lastSeqOf(record) + 1;
  }
  return { runId, records, firstSeq: first.seq, lastSeq: nextSeq - 1, chars };
}

export function isRunId(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_RUN_ID_CHARS && value.isWellFormed();
}

/** A valid id derived from an invalid one. A new run cannot have the empty id, that of stored records without one. */
export function storableRunId(runId: unknown): string {
  if (isRunId(runId) && runId !== '') return runId;
  const name = typeof runId === 'string' ? runId : JSON.stringify(toJson(runId));
  return `${name.slice(0, READABLE_ID_CHARS).toWellFormed()}-${hashText(name)}`;
}

export function checkRunId(runId: string | undefined): string {
  if (isRunId(runId)) return runId;
  throw invalidArgument(
    `run_id must be well-formed text of at most ${MAX_RUN_ID_CHARS} characters, got ${runId === undefined ? 'none' : JSON.stringify(runId).slice(0, 80)}`,
  );
}

interface CheckedChange<Result> {
  readonly batch?: CheckedBatch;
  readonly snapshotJson?: string;
  readonly result: Result;
}

/**
 * @throws CoxswainError `invalid-argument` for records of another run, a snapshot that is no JSON, or a result without
 * a list of records (such as a promise), and as `checkBatch`
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
