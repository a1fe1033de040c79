import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import type { TrajectoryPattern } from '../records/trajectory-pattern.ts';
import { WITHHELD_REASON } from '../records/words.ts';
import {
  checkHoldout,
  holdoutArmOf,
  silenceReason,
  unitOf,
  type DrawnAdvice,
  type HoldoutArm,
  type HoldoutOptions,
} from './holdout.ts';
import { stretchAfter } from './stop-policy.ts';

function isWithheld(options: HoldoutOptions, runId: string, advice: DrawnAdvice): boolean {
  return silenceReason('steer', holdoutArmOf(options, runId), { runId, unit: unitOf(advice) }) === WITHHELD_REASON;
}

const shares = fc.double({ min: 0.001, max: 1, noNaN: true });
const IDS = 20_000;

/** Ids as they are in practice: they differ in their last characters only, or everywhere. */
const makers: readonly ((index: number) => string)[] = [
  (index) => `run-${index}`,
  (index) => `2f1c9a3e-0000-4000-8000-${String(index).padStart(12, '0')}`,
  (index) => String(index * 7919),
];

test('about the given share of runs is withheld, for any seed and similar ids', () => {
  fc.assert(
    fc.property(shares, fc.string(), fc.constantFrom(...makers), (share, seed, idOf) => {
      let withheld = 0;
      for (let index = 0; index < IDS; index += 1) {
        if (holdoutArmOf({ share, seed, unit: 'run' }, idOf(index))?.withheld === true) withheld += 1;
      }
      const spread = Math.sqrt((share * (1 - share)) / IDS);
      // Five standard errors: a fair coin fails this once in 1.7 million times.
      expect(Math.abs(withheld / IDS - share)).toBeLessThanOrEqual(5 * spread + 1 / IDS);
    }),
    { numRuns: 40, seed: 8 },
  );
});

test('the arm depends on seed and id only, and a greater share only adds withheld runs', () => {
  fc.assert(
    fc.property(shares, shares, fc.string(), fc.string(), (one, other, seed, id) => {
      const arm = holdoutArmOf({ share: one, seed, unit: 'run' }, id);
      expect(holdoutArmOf({ share: one, seed, unit: 'run' }, id)).toEqual(arm);
      expect(arm?.share).toBe(one);
      const greater = holdoutArmOf({ share: Math.max(one, other), seed, unit: 'run' }, id);
      expect(arm?.withheld === true && greater?.withheld !== true).toBe(false);
    }),
  );
});

test('another seed assigns other arms', () => {
  const armOf = (seed: string, id: string): HoldoutArm | undefined =>
    holdoutArmOf({ share: 0.5, seed, unit: 'run' }, id);
  const ids = Array.from({ length: 1_000 }, (_, index) => `run-${index}`);
  const moved = ids.filter((id) => armOf('a', id)?.withheld !== armOf('b', id)?.withheld);
  expect(moved.length).toBeGreaterThan(400);
  expect(moved.length).toBeLessThan(600);
});

test('share 0 is no experiment; share 1 withholds everything', () => {
  expect(holdoutArmOf({ share: 0 }, 'a')).toBeUndefined();
  expect(holdoutArmOf({ share: 1, unit: 'run' }, 'a')).toMatchObject({ share: 1, withheld: true });
  expect(isWithheld({ share: 1 }, 'a', { providerName: 'P', speaker: 'feedback' })).toBe(true);
});

test.each([-0.1, 1.1, Number.NaN, '0.1', null])('a share of %j is refused', (share) => {
  expect(() => checkHoldout({ share: share as number })).toThrow('holdout must be a number from 0 to 1');
});

test('a number is a share; the default is share 0', () => {
  expect(checkHoldout(0.1)).toEqual({ share: 0.1 });
  expect(checkHoldout(undefined)).toEqual({ share: 0 });
  expect(() => checkHoldout({ share: 0.1, seed: 7 as never })).toThrow('holdout.seed must be a text, got 7');
});

test('about the given share of episodes is withheld, each independently', () => {
  const options = { share: 0.3, seed: 's' };
  let [withheld, both] = [0, 0];
  for (let index = 0; index < IDS; index += 1) {
    const runId = `run-${Math.floor(index / 50)}`;
    const inStretch = (since: number): boolean =>
      isWithheld(options, runId, { providerName: 'P', speaker: 'guidance', stretch: { since, open: [] } });
    const isOut = inStretch(index % 50);
    withheld += Number(isOut);
    if (isOut && inStretch((index % 50) + 1_000)) both += 1;
  }
  expect(withheld / IDS).toBeCloseTo(0.3, 1);
  // Independent of another episode: of those withheld, 30 % are withheld again.
  expect(both / withheld).toBeCloseTo(0.3, 1);
});

test('all advice about one stretch is one unit; a deadline and other patterns are units of their providers', () => {
  const stretch = { since: 7, open: ['identical_call:x'] };
  const stuck = { identity: 'identical_call:x', firstSeen: 5, stuck: true };
  const slow = { identity: 'sequential:x', firstSeen: 2, stuck: false };
  const unit = (advice: Omit<DrawnAdvice, 'stretch' | 'providerName'>): string =>
    unitOf({ providerName: 'P', stretch, ...advice });
  expect(unit({ speaker: 'feedback', pattern: stuck })).toBe('stretch 7');
  expect(unit({ speaker: 'guidance', pattern: { ...stuck, identity: 'error_cascade:y' } })).toBe('stretch 7');
  expect(unit({ speaker: 'guidance' })).toBe('stretch 7');
  expect(unit({ speaker: 'feedback' })).toBe('provider P');
  expect(unit({ speaker: 'feedback', pattern: slow })).toBe('sequential:x 2');
});

test('a stretch lasts from the first stuck pattern until the last overlapping one is cleared', () => {
  const pattern = (identity: string, flaggedAt: number, stuck = true): TrajectoryPattern => ({
    kind: 'k',
    identity,
    stuck,
    level: 'warn',
    confidence: 1,
    evidence: [],
    firstSeen: 0,
    flaggedAt,
    occurrences: 3,
  });
  const [a, b] = [pattern('a', 4), pattern('b', 9)];
  let stretch = stretchAfter(undefined, 'flagged', pattern('slow', 1, false));
  expect(stretch).toBeUndefined();
  for (const [change, one] of [
    ['flagged', a],
    ['flagged', b],
    ['cleared', a],
  ] as const)
    stretch = stretchAfter(stretch, change, one);
  expect(stretch).toEqual({ since: 4, open: ['b'] });
  expect(stretchAfter(stretch, 'cleared', b)).toBeUndefined();
});

test.each([
  [{ share: 0.5, unit: 'call' }, 'holdout.unit must be episode or run'],
  [{ share: 0.5, withinCalls: 0 }, 'holdout.withinCalls must be a whole number from 1 to 1000'],
])('%j is refused', (holdout, message) => {
  expect(() => checkHoldout(holdout as HoldoutOptions)).toThrow(message);
});
