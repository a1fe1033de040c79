import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { StretchCounts } from './stretch-counts.ts';

test('the counts are those of the places each stretch stands for, in whatever order they come', () => {
  const places = fc.uniqueArray(fc.nat({ max: 2_000 }), { minLength: 1, maxLength: 300 });
  fc.assert(
    fc.property(places, fc.infiniteStream(fc.boolean()), (indices, coins) => {
      const counts = new StretchCounts(60);
      const counted = indices.filter((index) => {
        const isCounted = coins.next().value;
        counts.mark(index, isCounted);
        return isCounted;
      });
      const { length, perStretch } = counts;
      expect(length).toBe(Math.max(...indices) + 1);
      expect(counts.counts().length).toBeLessThanOrEqual(60);
      const stretches = Array.from({ length: Math.ceil(length / perStretch) }, (_, stretch) => stretch);
      expect(counts.counts()).toEqual(
        stretches.map((stretch) => counted.filter((index) => Math.floor(index / perStretch) === stretch).length),
      );
    }),
  );
});
