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

test('the failure line of a call outlives its bytes, and lines beyond the limit are left out', () => {
  const places = new CallPlaces();
  for (let call = 1; call <= 300; call += 1) {
    places.add(2 * call);
    places.setFailure(call, call % 2 === 0 ? 'no such file' : `fault ${call}`);
  }
  places.add(700);
  const calls = CallPlaces.from(places.bytes()).callsBetween(0, 1_000);
  expect(calls).toEqual(places.callsBetween(0, 1_000));
  expect([calls[1]?.failure, calls[299]?.failure]).toEqual(['no such file', 'no such file']);
  expect([calls[2]?.failure, calls[298]?.failure]).toEqual(['fault 3', 'fault 299']);
  expect(calls[300]).not.toHaveProperty('failure');
});

test('the calls around an advice text are compared with the last call before it', () => {
  const places = new CallPlaces();
  for (const [at, line] of ['other', 'same', undefined, 'same', 'same', 'other', undefined].entries()) {
    places.add(at);
    if (line !== undefined) places.setFailure(at + 1, line);
  }
  expect(places.around(5)).toEqual({
    before: ['same-failure', 'no-failure', 'same-failure', 'same-failure'],
    after: ['other-failure', 'no-failure'],
  });
  expect(places.around(0)).toEqual({
    before: [],
    after: ['other-failure', 'other-failure', 'no-failure', 'other-failure'],
  });
});
