import { CoxswainError, type CoxswainErrorCode } from '../../core/base/error.ts';
import { toStoredRecord } from '../../core/records/encode-record.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { lastSeqOf, type RunSummary } from '../../core/facts/run-summary.ts';
import type { RecordsAnswer, RunState } from './api-shapes.ts';
import { createBreather } from '../../core/node/breather.ts';
import { cutValues } from './cut-values.ts';
import type { RunReader } from './run-reader.ts';
import { RunStateFold } from './run-state.ts';
import { problemOf, viewerFault } from './viewer-fault.ts';

/** Approximate maximum number of characters of records per response. */
const MAX_ANSWER_CHARS = 4 * 1024 * 1024;

/** Returns the record as the API sends it: the stored record with long values truncated. */
export function shownRecord(record: TrajectoryRecord): TrajectoryRecord {
  const stored = toStoredRecord(record);
  // A stored record has the shape of the API. A payload of an unknown kind is not changed.
  return { ...stored, payload: cutValues(stored.payload) } as unknown as TrajectoryRecord;
}

/**
 * Reads up to `limit` records of a run, or fewer if they are large. At a damaged record it stops and returns the problem.
 *
 * @throws CoxswainError if the store cannot be read
 */
export async function readRecords(
  reader: RunReader,
  run: RunSummary,
  { fromSeq, limit }: { readonly fromSeq: number; readonly limit: number },
): Promise<RecordsAnswer> {
  const records: TrajectoryRecord[] = [];
  let nextSeq = fromSeq;
  let chars = 0;
  let { lastSeq } = run;
  try {
    for await (const record of reader.readRun(run.runId, { fromSeq, limit })) {
      const shownRecordJson = shownRecord(record);
      records.push(shownRecordJson);
      nextSeq = lastSeqOf(record) + 1;
      chars += JSON.stringify(shownRecordJson).length;
      if (chars > MAX_ANSWER_CHARS) break;
    }
  } catch (error) {
    if (!isDamage(error) && run.problem === undefined) throw error;
    return { records, nextSeq, lastSeq, problem: problemOf(error).problem };
  }
  // The list of runs may be older than the records.
  lastSeq = Math.max(lastSeq, nextSeq - 1);
  return { records, nextSeq, lastSeq };
}

/**
 * Yields the records of a run up to the first damaged one. It lets other work run in between.
 *
 * @throws CoxswainError if the store cannot be read
 */
export async function* undamagedRecords(
  reader: RunReader,
  run: RunSummary,
): AsyncGenerator<TrajectoryRecord, void, void> {
  const pauseIfDue = createBreather();
  try {
    for await (const record of reader.readRun(run.runId)) {
      yield record;
      const pause = pauseIfDue();
      if (pause !== undefined) await pause;
    }
  } catch (error) {
    if (!isDamage(error) && run.problem === undefined) throw error;
  }
}

/**
 * Returns the state of the run after a call returned and before the next call started. @throws CoxswainError if the store cannot be read
 */
export async function readState(reader: RunReader, run: RunSummary, call: number): Promise<RunState> {
  const fold = new RunStateFold();
  for await (const record of undamagedRecords(reader, run)) {
    // Records between the call's result and the next call belong to the call.
    if (record.payload.kind === 'tool_started' && fold.calls >= call && !fold.isOpen(call)) break;
    fold.fold(record);
  }
  // The state also covers calls that ran in parallel.
  return { ...fold.state(), call: Math.min(call, fold.calls) };
}

/** Reads one record without truncation. @throws CoxswainError with the reason `not-found`, or with the errors of reading it */
export async function readWholeRecord(reader: RunReader, runId: string, seq: number): Promise<unknown> {
  for await (const record of reader.readRun(runId, { fromSeq: seq, limit: 1 })) {
    if (record.seq === seq) return toStoredRecord(record);
  }
  throw viewerFault('not-found', `the run has no record ${seq}`);
}

/** The error codes for a record that was changed after it was written, cannot be decoded, or has a later schema version. */
const DAMAGE_CODES: ReadonlySet<CoxswainErrorCode> = new Set(['store-damaged', 'invalid-record', 'schema-version']);

/** Returns true if a record is damaged, and false if the store could not be read. */
export function isDamage(error: unknown): boolean {
  return error instanceof CoxswainError && DAMAGE_CODES.has(error.code);
}
