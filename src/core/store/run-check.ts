import { canonicalJson } from '../base/canonical-json.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import { lastSeqOf, RunCounter, type RunSummary } from '../facts/run-summary.ts';
import type { StoreProblem } from './trajectory-store.ts';

/** Checks the records of one run in stored order. Each method returns the problems it finds. */
export interface RunCheck {
  readonly nextSeq: number;
  checkRecord(record: TrajectoryRecord, place: string): readonly StoreProblem[];
  /** Called instead of `take` for an unreadable record at `seq`. */
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

/** Finds missing and repeated records, records of another run, and a summary that differs from the records. */
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
      const problems = [...findOrderProblem(seq, place), { runId, seq, place, problem }];
      nextSeq = Math.max(nextSeq, seq + 1);
      isComplete = false;
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
