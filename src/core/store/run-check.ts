import { canonicalJson } from '../base/canonical-json.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import { lastSeqOf, RunCounter, type RunSummary } from '../facts/run-summary.ts';
import type { StoreProblem } from './trajectory-store.ts';
import { hashNumber } from '../base/hash.ts';
import { textsIn, type JsonObject } from '../base/json.ts';
import { toStoredRecord } from '../records/decode-record.ts';

export interface RunCheck {
  readonly nextSeq: number;
  checkRecord(record: TrajectoryRecord, place: string): readonly StoreProblem[];
  /** Called instead of `take` for an unreadable record at `seq`, which may be damaged too. */
  reportDamage(seq: number, problem: Pick<StoreProblem, 'place' | 'problem'>): readonly StoreProblem[];
  /** Compares the stored summary with the records, if all records were readable. */
  checkSummary(stored: RunSummary | undefined, place: string): readonly StoreProblem[];
}

/** Returns the problem of a record with `seq` where `nextSeq` was expected. Returns undefined if they are equal. */
export function orderProblem(
  nextSeq: number,
  seq: number,
): { readonly seq: number; readonly problem: string } | undefined {
  if (seq === nextSeq) return undefined;
  if (seq < nextSeq) return { seq, problem: `expected seq ${nextSeq}, found ${seq}` };
  const problem = seq === nextSeq + 1 ? `seq ${nextSeq} is missing` : `seq ${nextSeq} to ${seq - 1} are missing`;
  return { seq: nextSeq, problem };
}

export function createRunCheck(runId: string): RunCheck {
  let nextSeq = 0;
  let isComplete = true;
  const counter = new RunCounter();
  let isEmpty = true;

  function findOrderProblem(seq: number, place: string): readonly StoreProblem[] {
    const orderFault = orderProblem(nextSeq, seq);
    if (orderFault === undefined) return [];
    isComplete = false;
    return [{ runId, place, ...orderFault }];
  }

  return {
    get nextSeq() {
      return nextSeq;
    },
    checkRecord(record, place) {
      const problems = [...findOrderProblem(record.seq, place)];
      nextSeq = Math.max(nextSeq, lastSeqOf(record) + 1);
      counter.fold(record);
      isEmpty = false;
      if (record.run_id !== runId) {
        isComplete = false;
        const problem = `a record of run ${JSON.stringify(record.run_id)} is among those of this run`;
        problems.push({ runId, seq: record.seq, place, problem });
      }
      return problems;
    },
    reportDamage(seq, { place, problem }) {
      isComplete = false;
      if (!Number.isSafeInteger(seq)) return [{ runId, place, problem }];
      const problems = [...findOrderProblem(seq, place), { runId, seq, place, problem }];
      nextSeq = Math.max(nextSeq, seq + 1);
      return problems;
    },
    checkSummary(stored, place) {
      const summary = isEmpty ? undefined : counter.summary();
      if (stored !== undefined && summary === undefined && isComplete) {
        return [{ runId, place, problem: 'a summary of a run without records' }];
      }
      if (!isComplete || canonicalJson(stored) === canonicalJson(summary)) return [];
      const problem =
        stored === undefined ? 'the run has no summary' : 'the summary differs from the records of the run';
      return [{ runId, place, problem }];
    },
  };
}

/** The tables whose rows have a checksum. The checksum includes the table name, so that a row is not valid in another table. */
export type CheckedTable = 'records' | 'runs' | 'snapshots';

/** Two odd constants for mixing. Their values have no special meaning. */
const HIGH_WORD = 0x9e3779b1;
const TWO_TO_32 = 2 ** 32;

/**
 * Includes table, run and position, so swapped rows fail too; a whole number from 0 to 2⁴⁸ - 1, the same in every
 * database. `hashNumber` instead of `crc32`: loading `node:zlib` takes 3 to 4 ms, and a hook process runs for 40 ms.
 * Not a signature. `place` is the `seq` of a record, the `covers_seq` of a snapshot, 0 for a summary.
 */
export function rowChecksums(table: CheckedTable, runId: string): (place: number, text: string) => number {
  const seed = hashNumber(`${table} ${runId}`) | 0;
  return (place, text) => hashNumber(text, seed ^ place ^ Math.imul(Math.floor(place / TWO_TO_32), HIGH_WORD));
}

/** Every string value of the payload, one per line, without keys, numbers and `kind`. */
export function recordText(record: TrajectoryRecord): string {
  // A decoded payload is plain JSON.
  return textsIn({ ...(toStoredRecord(record).payload as JsonObject), kind: null }).join('\n');
}
