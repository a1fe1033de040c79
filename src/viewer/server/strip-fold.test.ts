import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { everyPayload } from '../../../test/support/every-payload.ts';
import { scriptedRecords, times } from '../../../test/support/scripted-run.ts';
import { scriptRun } from '../../../test/support/script-records.ts';
import { RunOverviewFold } from './run-overview-fold.ts';
import { Buckets, FirstLook } from './strip-fold.ts';

test('every count is in the bucket of its record, and there are at most 2,000 buckets', () => {
  const seqs = fc.uniqueArray(fc.integer({ min: 0, max: 20_000 }), { minLength: 1, maxLength: 300 });
  fc.assert(
    fc.property(seqs, (given) => {
      const ordered = given.toSorted((a, b) => a - b);
      const buckets = new Buckets();
      let calls = 0;
      for (const seq of ordered) {
        buckets.addRecord(seq, 1_000 + seq, calls);
        buckets.count(seq, 'calls');
        calls += 1;
      }
      const lists = buckets.lists();
      const expected = Array.from({ length: lists.buckets }, () => 0);
      for (const seq of ordered) {
        const at = Math.floor(seq / lists.seqsPerBucket);
        expected[at] = (expected[at] ?? 0) + 1;
      }
      expect(lists.buckets).toBeLessThanOrEqual(2_000);
      expect(lists.calls).toEqual(expected);
      const before = expected.map((_, at) => expected.slice(0, at).reduce((sum, count) => sum + count, 0));
      const filled = expected.flatMap((count, at) => (count > 0 ? [at] : []));
      expect(filled.map((at) => lists.firstCall[at])).toEqual(filled.map((at) => before[at]));
      expect(filled.map((at) => lists.atMs[at])).toEqual(
        filled.map((at) => 1_000 + (ordered.find((seq) => Math.floor(seq / lists.seqsPerBucket) === at) ?? 0)),
      );
    }),
    { numRuns: 50 },
  );
});

test('a first look has the calls, failures, cost, prompts, last answer and rows of the whole, and says how far the rest is', () => {
  const failing = { tool: 'bash', args: { command: 'make' }, result: 'make: no rule', isError: true };
  for (const records of [scriptedRecords(times(6, failing)), scriptRun('run', everyPayload('Mend it'))]) {
    const [whole, rest] = [new RunOverviewFold(), { nextSeq: 0 }];
    const look = new FirstLook(rest, {});
    for (const record of records) {
      look.fold(record);
      whole.fold(record);
    }
    rest.nextSeq = 3;
    const lastSeq = whole.nextSeq - 1;
    const { checkedSeq, complete, nextSeq, patterns, usage, ...shown } = look.overview(lastSeq);
    expect({ checkedSeq, complete, nextSeq, patterns }).toEqual({
      checkedSeq: 3,
      complete: false,
      nextSeq: lastSeq + 1,
      patterns: [],
    });
    const { atMs, buckets, calls, costUsd, errors, firstCall, lastAnswer, prompts, tokens } = whole.overview(lastSeq);
    expect(shown).toMatchObject({ atMs, buckets, calls, costUsd, errors, firstCall, prompts, tokens });
    expect(shown.lastAnswer).toEqual(lastAnswer);
    expect(whole.extras()).toMatchObject(usage ?? {});
    const placesOf = ({ rows }: FirstLook | RunOverviewFold): unknown =>
      rows.list.map(({ call, end, failed, kind, seq }) => [call, end, failed, kind, seq]);
    expect(placesOf(look)).toEqual(placesOf(whole));
  }
});
