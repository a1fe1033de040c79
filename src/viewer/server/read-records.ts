import { CoxswainError, type CoxswainErrorCode } from '../../base/error.ts';
import { toStoredRecord } from '../../records/encode-record.ts';
import type { TrajectoryRecord } from '../../records/trajectory-record.ts';
import { lastSeqOf, type RunSummary } from '../../store/run-summary.ts';
import type { RecordsAnswer, RunState } from './api-shapes.ts';
import { createBreather } from '../../base/breather.ts';
import { cutValues } from './cut-values.ts';
import type { RunReader } from './run-reader.ts';
import { RunStateFold } from './run-state.ts';
import { problemOf, viewerFault } from './viewer-fault.ts';

/** An answer ends after about so many characters of records. */
const MAX_ANSWER_CHARS = 4 * 1024 * 1024;

/** A record as the API gives it: as it is stored, with long values cut. */
export function shownRecord(record: TrajectoryRecord): TrajectoryRecord {
  const stored = toStoredRecord(record);
  // A stored record is one as the API describes it; of unknown kinds the payload is as it came.
  return { ...stored, payload: cutValues(stored.payload) } as unknown as TrajectoryRecord;
}

/**
 * A stretch of a run: `limit` records, or fewer where they are large. What lies before a damaged record is given, with the problem.
 *
 * @throws CoxswainError when the store cannot be read
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
      const shown = shownRecord(record);
      records.push(shown);
      nextSeq = lastSeqOf(record) + 1;
      chars += JSON.stringify(shown).length;
      if (chars > MAX_ANSWER_CHARS) break;
    }
  } catch (error) {
    if (!isDamage(error) && run.problem === undefined) throw error;
    return { records, nextSeq, lastSeq, problem: problemOf(error).problem };
  }
  // The list may be a moment behind the records.
  lastSeq = Math.max(lastSeq, nextSeq - 1);
  return { records, nextSeq, lastSeq };
}

/** The state of the run when a call had come back, before the next one began. @throws CoxswainError when the store cannot be read */
export async function readState(reader: RunReader, run: RunSummary, call: number): Promise<RunState> {
  const fold = new RunStateFold();
  const breath = createBreather();
  try {
    for await (const record of reader.readRun(run.runId)) {
      // What is said and noticed after the call's result, up to the next call, belongs to it.
      if (record.payload.kind === 'tool_started' && fold.calls >= call && !fold.isOpen(call)) break;
      fold.fold(record);
      const pause = breath();
      if (pause !== undefined) await pause;
    }
  } catch (error) {
    if (!isDamage(error) && run.problem === undefined) throw error;
  }
  // Calls that began beside it are in the state too.
  return { ...fold.state(), call: Math.min(call, fold.calls) };
}

/** One record whole. @throws CoxswainError with the reason `not-found`, or as reading it */
export async function readWholeRecord(reader: RunReader, runId: string, seq: number): Promise<unknown> {
  for await (const record of reader.readRun(runId, { fromSeq: seq, limit: 1 })) {
    if (record.seq === seq) return toStoredRecord(record);
  }
  throw viewerFault('not-found', `the run has no record ${seq}`);
}

/** What a store throws at a record: it is not what was written, does not decode, or is of a later version. */
const DAMAGE: ReadonlySet<CoxswainErrorCode> = new Set(['store-damaged', 'invalid-record', 'schema-version']);

/** True where a record is damaged, and not the way to it. */
export function isDamage(error: unknown): boolean {
  return error instanceof CoxswainError && DAMAGE.has(error.code);
}
