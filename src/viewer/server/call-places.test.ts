import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { CallPlaces } from './call-places.ts';

test('every call of a long run is found by its number and by its record', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60_000 }), (calls) => {
      const places = new CallPlaces();
      for (let call = 1; call <= calls; call += 1) places.add(call * 3);
      for (const call of [1, Math.ceil(calls / 3), Math.ceil(calls / 2), calls]) {
        expect(places.seqOf(call)).toBe(call * 3);
        expect([places.callAt(call * 3 - 1), places.callAt(call * 3)]).toEqual([call - 1, call]);
        expect(places.callsBetween(call * 3, call * 3 + 3)).toEqual([{ call, seq: call * 3, kind: 'unknown' }]);
      }
    }),
    { numRuns: 30 },
  );
});

test('an unknown call number gives the nearest call, or the first record without calls', () => {
  const places = new CallPlaces();
  expect([places.seqOf(5), places.callAt(9)]).toEqual([0, 0]);
  places.add(7);
  places.setKind(1, 'read');
  expect([places.seqOf(0), places.seqOf(99)]).toEqual([7, 7]);
  expect(places.callsBetween(0, 100)).toEqual([{ call: 1, seq: 7, kind: 'read' }]);
});
