import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { canonicalJson } from '../../src/core/base/canonical-json.ts';
import { CoxswainError } from '../../src/core/base/error.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../../src/core/records/trajectory-record.ts';
import { listAll, readAll, scriptRecord } from './script-records.ts';
import type { ContractStore } from './store-contract/contract-store.ts';

/** One append, perhaps after a deletion: where it begins relative to the next free seq, and what it holds. */
interface AppendStep {
  readonly run: number;
  /** -6 repeats up to six records, +1 leaves a hole. */
  readonly offset: number;
  /** How many seqs each record fills; more than 1 is a gap record. */
  readonly widths: readonly number[];
  /** Records of another flavour conflict with those stored. */
  readonly flavour: number;
  /** Take the records that are stored where there are some, as a retry does. */
  readonly isRetry: boolean;
  readonly reopens: boolean;
  /** The run is deleted first. */
  readonly deletes: boolean;
}

const step: fc.Arbitrary<AppendStep> = fc.record({
  run: fc.integer({ min: 0, max: 2 }),
  offset: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.integer({ min: -6, max: 1 })),
  widths: fc.array(fc.oneof({ weight: 5, arbitrary: fc.constant(1) }, fc.integer({ min: 2, max: 4 })), {
    minLength: 1,
    maxLength: 5,
  }),
  flavour: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, fc.constant(1)),
  isRetry: fc.boolean(),
  reopens: fc.oneof({ weight: 15, arbitrary: fc.constant(false) }, fc.constant(true)),
  deletes: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, fc.constant(true)),
});

/** The plain store that every driver must agree with: a list of records for each run. */
type Model = Map<string, TrajectoryRecord[]>;

/** Random appends with retries, overlaps and holes, and deletions between them, have the same answers and leave the same runs as a list would. */
export function modelContract(open: () => Promise<ContractStore>, numRuns: number): void {
  test('random appends and deletions agree with a plain list of records', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const opened = await open();
        try {
          expect(await follow(opened, steps)).toBe(steps.length);
        } finally {
          await opened.dispose();
        }
      }),
      { numRuns },
    );
  });
}

/** Plays the steps on the store and on the model; answers how many were played. */
async function follow(opened: ContractStore, steps: readonly AppendStep[]): Promise<number> {
  const model: Model = new Map();
  let { store } = opened;
  for (const one of steps) {
    if (one.reopens && opened.reopen !== undefined) store = await opened.reopen();
    const wasDeleted = one.deletes && (await store.deleteRun(runIdOf(one)));
    expect(wasDeleted).toBe(one.deletes && model.delete(runIdOf(one)));
    const batch = batchOf(model, one);
    const answer = await store.append(batch).catch((thrown: unknown) => {
      if (thrown instanceof CoxswainError) return thrown.code;
      throw thrown;
    });
    expect(answer).toBe(appendTo(model, batch));
  }
  for (const [runId, records] of model) {
    expect(await readAll(store, runId)).toEqual(records);
    expect(await store.findRun(runId)).toMatchObject({ records: records.length, lastSeq: lastSeqIn(records) });
  }
  expect((await listAll(store, 2)).map((run) => run.runId)).toEqual(listed(model));
  return steps.length;
}

function batchOf(model: Model, one: AppendStep): readonly TrajectoryRecord[] {
  const runId = runIdOf(one);
  const records = model.get(runId) ?? [];
  const begin = lastSeqIn(records) + 1 + one.offset;
  const batch: TrajectoryRecord[] = [];
  let seq = Math.max(0, begin);
  for (const width of one.widths) {
    const stored = one.isRetry ? records.find((record) => record.seq === seq) : undefined;
    const record = stored ?? scriptRecord({ runId, seq, payload: payloadOf(seq, width, one.flavour) });
    batch.push(record);
    seq = endOf(record) + 1;
  }
  return batch;
}

function runIdOf({ run }: AppendStep): string {
  return `run-${run}`;
}

function payloadOf(seq: number, width: number, flavour: number): TrajectoryPayload {
  return width === 1
    ? { kind: 'compaction', trigger: `flavour ${flavour}` }
    : { kind: 'gap', through_seq: seq + width - 1, reason: `flavour ${flavour}` };
}

function appendTo(model: Model, batch: readonly TrajectoryRecord[]): number | string {
  const runId = batch[0]?.run_id ?? '';
  const records = [...(model.get(runId) ?? [])];
  for (const record of batch) {
    const last = lastSeqIn(records);
    if (record.seq > last + 1) return 'store-gap';
    if (record.seq === last + 1) {
      records.push(record);
    } else {
      const stored = records.find((one) => one.seq === record.seq);
      if (stored === undefined || canonicalJson(stored) !== canonicalJson(record)) return 'store-conflict';
    }
  }
  model.set(runId, records);
  return lastSeqIn(records);
}

function listed(model: Model): readonly string[] {
  const runs = [...model].map(([runId, records]) => ({ runId, at: records[0]?.recorded_at_unix_ms ?? 0 }));
  return runs.sort((left, right) => right.at - left.at || (left.runId < right.runId ? -1 : 1)).map((run) => run.runId);
}

function lastSeqIn(records: readonly TrajectoryRecord[]): number {
  const last = records.at(-1);
  return last === undefined ? -1 : endOf(last);
}

function endOf(record: TrajectoryRecord): number {
  return record.payload.kind === 'gap' ? record.payload.through_seq : record.seq;
}
