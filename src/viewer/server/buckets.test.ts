import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { Buckets } from './run-overview-fold.ts';

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
