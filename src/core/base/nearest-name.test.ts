import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { editDistance, nearestName } from './check-members.ts';

test('letters inserted, left out, changed or swapped are counted', () => {
  expect(editDistance('shadow', 'shadow')).toBe(0);
  expect(editDistance('shadw', 'shadow')).toBe(1);
  expect(editDistance('shdaow', 'shadow')).toBe(1);
  expect(editDistance('steer', 'shadow')).toBe(5);
  expect(editDistance('', 'abc')).toBe(3);
});

test('a distance is the same both ways and zero only for equal texts', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (one, other) => {
      const distance = editDistance(one, other);
      expect(distance).toBe(editDistance(other, one));
      expect(distance === 0).toBe(one === other);
    }),
  );
});

test('the nearest name is found across case and separators, and nothing far away', () => {
  const names = ['identical_call', 'cycle', 'per-provider', 'doomLoop'];
  expect(nearestName('identicalCall', names)).toBe('identical_call');
  expect(nearestName('perProvider', names)).toBe('per-provider');
  expect(nearestName('doom_lop', names)).toBe('doomLoop');
  expect(nearestName('cyle', names)).toBe('cycle');
  expect(nearestName('identical', names)).toBe('identical_call');
  expect(nearestName('zebra', names)).toBeUndefined();
  expect(nearestName('x'.repeat(10_000), names)).toBeUndefined();
});
