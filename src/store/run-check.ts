import { canonicalJson } from '../base/canonical-json.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import { lastSeqOf, RunCounter, type RunSummary } from './run-summary.ts';
import type { StoreProblem } from './trajectory-store.ts';

/** Looks at the records of one run, in the order in which they are stored. Each call gives what it finds wrong. */
export interface RunCheck {
  readonly nextSeq: number;
  take(record: TrajectoryRecord, place: string): readonly StoreProblem[];
  /** In place of `take`, for a record at `seq` that cannot be read. */
  damaged(seq: number, problem: Pick<StoreProblem, 'place' | 'problem'>): readonly StoreProblem[];
  /** Compares the run's stored summary with its records, where all of those could be read. */
  end(stored: RunSummary | undefined, place: string): readonly StoreProblem[];
}

/** What is wrong when `seq` comes where `nextSeq` should, and for which `seq`; undefined when they are the same. */
export function orderProblem(
  nextSeq: number,
  seq: number,
): { readonly seq: number; readonly problem: string } | undefined {
  if (seq === nextSeq) return undefined;
  if (seq < nextSeq) return { seq, problem: `seq ${nextSeq} should stand here, found ${seq}` };
  const problem = seq === nextSeq + 1 ? `seq ${nextSeq} is missing` : `seq ${nextSeq} to ${seq - 1} are missing`;
  return { seq: nextSeq, problem };
}

/** Finds holes, repeats, records of another run and a summary that does not say what the records say. */
export function createRunCheck(runId: string): RunCheck {
  let nextSeq = 0;
  let isWhole = true;
  const counter = new RunCounter();
  let isEmpty = true;

  function continues(seq: number, place: string): readonly StoreProblem[] {
    const found = orderProblem(nextSeq, seq);
    if (found === undefined) return [];
    isWhole = false;
    return [{ runId, place, ...found }];
  }

  return {
    get nextSeq() {
      return nextSeq;
    },
    take(record, place) {
      const problems = [...continues(record.seq, place)];
      nextSeq = Math.max(nextSeq, lastSeqOf(record) + 1);
      counter.fold(record);
      isEmpty = false;
      if (record.run_id !== runId) {
        isWhole = false;
        const problem = `a record of run ${JSON.stringify(record.run_id)} stands among those of this run`;
        problems.push({ runId, seq: record.seq, place, problem });
      }
      return problems;
    },
    damaged(seq, { place, problem }) {
      const problems = [...continues(seq, place), { runId, seq, place, problem }];
      nextSeq = Math.max(nextSeq, seq + 1);
      isWhole = false;
      return problems;
    },
    end(stored, place) {
      const summary = isEmpty ? undefined : counter.summary();
      if (stored !== undefined && summary === undefined && isWhole) {
        return [{ runId, place, problem: 'a summary of a run without records' }];
      }
      if (!isWhole || canonicalJson(stored) === canonicalJson(summary)) return [];
      const problem =
        stored === undefined ? 'the run has no summary' : 'the summary does not say what the records of the run say';
      return [{ runId, place, problem }];
    },
  };
}
