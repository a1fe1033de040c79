import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { checkHoldout, holdoutArmOf } from './holdout.ts';

const shares = fc.double({ min: 0.001, max: 1, noNaN: true });
const IDS = 20_000;

/** Ids as they are in practice: they differ in their last characters only, or everywhere. */
const makers: readonly ((index: number) => string)[] = [
  (index) => `run-${index}`,
  (index) => `2f1c9a3e-0000-4000-8000-${String(index).padStart(12, '0')}`,
  (index) => String(index * 7919),
];

test('about that share of runs is withheld, whatever the seed and however alike the ids are', () => {
  fc.assert(
    fc.property(shares, fc.string(), fc.constantFrom(...makers), (share, seed, idOf) => {
      let withheld = 0;
      for (let index = 0; index < IDS; index += 1) {
        if (holdoutArmOf({ share, seed }, idOf(index))?.withheld === true) withheld += 1;
      }
      const spread = Math.sqrt((share * (1 - share)) / IDS);
      // Five standard errors: a fair coin fails this once in 1.7 million times.
      expect(Math.abs(withheld / IDS - share)).toBeLessThanOrEqual(5 * spread + 1 / IDS);
    }),
    { numRuns: 40, seed: 8 },
  );
});

test('the arm follows from seed and id alone, and a greater share only adds runs to those withheld', () => {
  fc.assert(
    fc.property(shares, shares, fc.string(), fc.string(), (one, other, seed, id) => {
      const arm = holdoutArmOf({ share: one, seed }, id);
      expect(holdoutArmOf({ share: one, seed }, id)).toEqual(arm);
      expect(arm?.share).toBe(one);
      const greater = holdoutArmOf({ share: Math.max(one, other), seed }, id);
      expect(arm?.withheld === true && greater?.withheld !== true).toBe(false);
    }),
  );
});

test('another seed puts other runs into the arms', () => {
  const ids = Array.from({ length: 1_000 }, (_, index) => `run-${index}`);
  const moved = ids.filter(
    (id) =>
      holdoutArmOf({ share: 0.5, seed: 'a' }, id)?.withheld !== holdoutArmOf({ share: 0.5, seed: 'b' }, id)?.withheld,
  );
  expect(moved.length).toBeGreaterThan(400);
  expect(moved.length).toBeLessThan(600);
});

test('at share 0 there is no experiment, at 1 nobody is told anything', () => {
  expect(holdoutArmOf({ share: 0 }, 'a')).toBeUndefined();
  expect(holdoutArmOf({ share: 1 }, 'a')).toEqual({ share: 1, withheld: true });
});

test.each([-0.1, 1.1, Number.NaN, '0.1', null])('a share of %j is refused', (share) => {
  expect(() => checkHoldout({ share: share as number })).toThrow('holdout must be a number from 0 to 1');
});

test('a number is a share, nothing is none', () => {
  expect(checkHoldout(0.1)).toEqual({ share: 0.1 });
  expect(checkHoldout(undefined)).toEqual({ share: 0 });
  expect(() => checkHoldout({ share: 0.1, seed: 7 as never })).toThrow('holdout.seed must be a text, got 7');
});
