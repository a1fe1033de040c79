import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { CallPlaces } from './call-places.ts';

test('the first calls and the last ones are known exactly, those between by one a little before', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60_000 }), (calls) => {
      const places = new CallPlaces();
      for (let call = 0; call < calls; call += 1) places.add(call * 3);
      const stride = Math.max(1, 2 ** Math.ceil(Math.log2(calls / 16_384)));
      for (const call of [0, Math.floor(calls / 3), Math.floor(calls / 2), calls - 1, Math.max(0, calls - 1_000)]) {
        const found = places.seqOf(call) / 3;
        expect(found).toBeLessThanOrEqual(call);
        expect(found).toBeGreaterThan(call - (calls - call <= 1_024 ? 1 : stride));
      }
    }),
    { numRuns: 30 },
  );
});

test('a call that is not there is the nearest one, and without calls it is the first record', () => {
  const places = new CallPlaces();
  expect(places.seqOf(5)).toBe(0);
  places.add(7);
  expect([places.seqOf(-1), places.seqOf(99)]).toEqual([7, 7]);
});
