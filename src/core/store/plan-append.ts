import { CoxswainError } from '../base/error.ts';
import type { CheckedBatch, EncodedRecord } from './check-batch.ts';
import { foldRunSummaries, type RunSummary } from '../facts/run-summary.ts';

export interface AppendPlan {
  readonly fresh: readonly EncodedRecord[];
  readonly summary: RunSummary;
  readonly stored: RunSummary | undefined;
}

/** Writes nothing. `storedJson`: the JSON at a `seq` up to `stored.lastSeq`. Throws CoxswainError `store-gap`, `store-conflict`. */
export function planAppend(
  batch: CheckedBatch,
  stored: RunSummary | undefined,
  storedJson: (seq: number) => string | undefined,
): AppendPlan {
  const lastSeq = stored?.lastSeq ?? -1;
  if (batch.firstSeq === lastSeq + 1)
    return { fresh: batch.records, summary: extendSummary(stored, batch.records), stored };
  const fresh: EncodedRecord[] = [];
  for (const record of batch.records) {
    const { seq } = record;
    if (seq <= lastSeq) {
      const storedText = storedJson(seq);
      if (storedText === undefined || !isSameJson(storedText, record.json)) throw createConflictError(batch.runId, seq);
    } else {
      if (fresh.length === 0 && seq !== lastSeq + 1) throw createGapError(batch.runId, lastSeq + 1, seq);
      fresh.push(record);
    }
  }
  // If there are no fresh records, the run is already stored.
  const summary = fresh.length === 0 && stored !== undefined ? stored : extendSummary(stored, fresh);
  return { fresh, summary, stored };
}

function extendSummary(stored: RunSummary | undefined, fresh: readonly EncodedRecord[]): RunSummary {
  return foldRunSummaries(
    stored,
    fresh.map(({ record }) => record),
  );
}

/** Compares parsed JSON, because equal records may have different encodings. */
function isSameJson(left: string, right: string): boolean {
  if (left === right) return true;
  // Loaded on demand, because short-lived processes do not repeat appends.
  return process.getBuiltinModule('node:util').isDeepStrictEqual(JSON.parse(left), JSON.parse(right));
}

function createGapError(runId: string, expected: number, firstSeq: number): CoxswainError {
  return new CoxswainError(
    'store-gap',
    `run ${JSON.stringify(runId)} continues at seq ${expected}, the batch begins at ${firstSeq}; ` +
      'append the missing records first, or a gap record',
    { details: { runId, expected, got: firstSeq } },
  );
}

function createConflictError(runId: string, seq: number): CoxswainError {
  return new CoxswainError(
    'store-conflict',
    `run ${JSON.stringify(runId)} already has another record at seq ${seq}; two writers may be using one run id`,
    { details: { runId, seq } },
  );
}
