import { CoxswainError } from '../base/error.ts';
import type { CheckedBatch, EncodedRecord } from './check-batch.ts';
import { RunCounter, type RunSummary } from './run-summary.ts';

/** What an append has to write. */
export interface AppendPlan {
  /** The records that are not stored yet, in order; none when the batch is a whole repeat. */
  readonly fresh: readonly EncodedRecord[];
  /** The run's summary once `fresh` is stored. */
  readonly summary: RunSummary;
  /** The run's summary as it is stored now; undefined for a new run. */
  readonly stored: RunSummary | undefined;
}

/**
 * Decides what of a batch is new. Writes nothing.
 *
 * @param stored  the run's summary, or undefined for a run that is not stored
 * @param storedJson  gives the JSON stored at exactly that `seq`, or undefined; asked only for `seq`s up
 *   to `stored.lastSeq`
 * @throws CoxswainError `store-gap` or `store-conflict`
 */
export function planAppend(
  batch: CheckedBatch,
  stored: RunSummary | undefined,
  storedJson: (seq: number) => string | undefined,
): AppendPlan {
  const lastSeq = stored?.lastSeq ?? -1;
  if (batch.firstSeq === lastSeq + 1)
    return { fresh: batch.records, summary: summaryWith(stored, batch.records), stored };
  const fresh: EncodedRecord[] = [];
  for (const item of batch.records) {
    const { seq } = item;
    if (seq <= lastSeq) {
      const before = storedJson(seq);
      if (before === undefined || !sameJson(before, item.json)) throw conflict(batch.runId, seq);
    } else {
      if (fresh.length === 0 && seq !== lastSeq + 1) throw gap(batch.runId, lastSeq + 1, seq);
      fresh.push(item);
    }
  }
  // Neither at the end nor behind it: something of it is stored, so the run is.
  const summary = fresh.length === 0 && stored !== undefined ? stored : summaryWith(stored, fresh);
  return { fresh, summary, stored };
}

function summaryWith(stored: RunSummary | undefined, fresh: readonly EncodedRecord[]): RunSummary {
  const counter = new RunCounter(stored);
  for (const { record } of fresh) counter.fold(record);
  return counter.summary();
}

/** Both are compared as text that was parsed, so that what JSON drops does not tell them apart. */
function sameJson(left: string, right: string): boolean {
  if (left === right) return true;
  // Not imported: only repeats need it, and short-lived processes do not repeat.
  return process.getBuiltinModule('node:util').isDeepStrictEqual(JSON.parse(left), JSON.parse(right));
}

function gap(runId: string, expected: number, got: number): CoxswainError {
  return new CoxswainError(
    'store-gap',
    `run ${JSON.stringify(runId)} continues at seq ${expected}, the batch begins at ${got}; ` +
      'append what is missing first, or a gap record that fills it',
    { details: { runId, expected, got } },
  );
}

function conflict(runId: string, seq: number): CoxswainError {
  return new CoxswainError(
    'store-conflict',
    `run ${JSON.stringify(runId)} already has another record at seq ${seq}; two writers may be using one run id`,
    { details: { runId, seq } },
  );
}
