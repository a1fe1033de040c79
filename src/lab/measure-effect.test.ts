import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { thorough } from '../../test/support/rounds.ts';
import { seededRandom } from '../../test/support/seeded-random.ts';
import { AGENTS, simulateExperiments, simulateRun, type Agents } from '../../test/support/simulated-experiment.ts';
import { clustersFor, differenceOf, type TrialUnit, measureEffect } from './measure-effect.ts';
import type { EffectExperiment, EffectReport, AdvisedUnit, EffectRow } from './effect-row.ts';

const [NO_EFFECT, HELPS, MANY_EPISODES] = AGENTS;
if (NO_EFFECT === undefined || HELPS === undefined || MANY_EPISODES === undefined) throw new Error('no agents');

function rowsOf(agents: Agents, runs: number, seed = 1): readonly EffectRow[] {
  const random = seededRandom(seed);
  return Array.from({ length: runs }, (_, number) => simulateRun(agents, `run-${seed}-${number}`, random).row);
}

function report(rows: readonly EffectRow[], within?: number): EffectReport {
  return measureEffect({ paths: ['runs.db'], worthwhile: 0.05, rows, ...(within === undefined ? {} : { within }) });
}

function named(rows: readonly EffectRow[], name: string): EffectExperiment | undefined {
  return report(rows).experiments.find((experiment) => experiment.name === name);
}

test.each(thorough ? [NO_EFFECT, HELPS, MANY_EPISODES] : [HELPS])(
  'simulated agents ($name): the estimate has no bias, and the intervals hold the truth as often as they say',
  (agents) => {
    const found = simulateExperiments(agents, 100, agents.runs / 5);
    // Four standard errors: by chance once in 16,000.
    expect(Math.abs(found.bias)).toBeLessThan(4 * found.biasError + 0.005);
    // Binomial(100, 0.95) is below 86 once in 4,000 times.
    expect(found.onceHolds).toBeGreaterThanOrEqual(0.86);
    expect(found.alwaysHolds).toBeGreaterThanOrEqual(0.9);
  },
);

test('advice that speaks first in every run, such as of a deadline, hides no episode and is an experiment by itself', () => {
  const agents: Agents = { ...HELPS, deadlineFirst: true };
  const rows = rowsOf(agents, 200);
  expect(named(rows, 'stuck')).toMatchObject({ outcome: 'left-pattern', unknown: 0 });
  expect(named(rows, 'stuck')?.advised?.units).toBeGreaterThan(80);
  // The runs do not say how they ended, so nothing is known about the deadline.
  expect(named(rows, 'Deadline')).toMatchObject({ about: 'provider', status: 'too-little-data', unknown: 200 });
});

test('each episode is a unit in a separate arm, and all of one run are one cluster', () => {
  const rows = rowsOf(MANY_EPISODES, 60);
  const found = named(rows, 'stuck');
  const units = rows.flatMap((row) => row.units);
  expect((found?.advised?.units ?? 0) + (found?.withheld?.units ?? 0)).toBe(units.length);
  expect(units.length).toBeGreaterThan(120);
  expect(rows.some((row) => new Set(row.units.map(({ withheld }) => withheld)).size === 2)).toBe(true);
  expect(found?.advised?.runs).toBeLessThanOrEqual(60);
});

test('the verdict says helps where advice helps, nothing where it does nothing, and how many more runs it takes', () => {
  expect(named(rowsOf(HELPS, 800), 'stuck')?.status).toBe('helps');
  const nothing = named(rowsOf(NO_EFFECT, 200), 'stuck');
  expect(nothing?.status).toBe('undecided');
  const [five, ten] = nothing?.power ?? [];
  // A difference half as large takes four times as many runs, and a little more.
  expect(five?.moreRuns).toBeGreaterThan(3 * (ten?.moreRuns ?? 0));
  expect(named(rowsOf(HELPS, 12), 'stuck')).toMatchObject({ status: 'too-little-data', difference: null });
});

test('a difference too small to matter is called none once the interval lies within what matters', () => {
  const units = Array.from({ length: 40_000 }, (_, index): TrialUnit => {
    return { cluster: `run ${index}`, stratum: 's', isAdvised: index % 2 === 0, good: index % 4 < 2 };
  });
  const { high = 1, low = -1 } = differenceOf(units) ?? {};
  expect([low > -0.05, high < 0.05]).toEqual([true, true]);
});

test('the runs that power states are those after which the difference shows in four of five experiments', () => {
  // Of 100 told 60 and of 100 withheld 40 end well: the variance of one run is 2 · (0.24 + 0.24).
  const clusters = clustersFor(0.2, 0.96);
  let shown = 0;
  for (let seed = 1; seed <= 200; seed += 1) {
    const random = seededRandom(seed);
    const units = Array.from({ length: clusters }, (_, index): TrialUnit => {
      const isAdvised = random() < 0.5;
      return { cluster: String(index), stratum: 's', isAdvised, good: random() < (isAdvised ? 0.6 : 0.4) };
    });
    if ((differenceOf(units)?.low ?? 0) > 0) shown += 1;
  }
  expect(shown / 200).toBeGreaterThan(0.7);
  expect(shown / 200).toBeLessThan(0.9);
});

test('units that come in equal copies in one cluster make nothing surer', () => {
  const once = Array.from({ length: 60 }, (_, index): TrialUnit => {
    return { cluster: String(index), stratum: 's', isAdvised: index % 2 === 0, good: index % 3 === 0 };
  });
  const width = (units: readonly TrialUnit[]): number => {
    const { onceHigh = 0, onceLow = 0 } = differenceOf(units) ?? {};
    return onceHigh - onceLow;
  };
  expect(width([...once, ...once, ...once])).toBeGreaterThan(0.9 * width(once));
});

const unit = fc.record({
  cluster: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
  stratum: fc.constantFrom('x', 'y'),
  isAdvised: fc.boolean(),
  good: fc.boolean(),
});

test('the difference turns over with the arms, lies in its interval, and does not depend on the order', () => {
  fc.assert(
    fc.property(fc.array(unit, { minLength: 1, maxLength: 40 }), (units) => {
      const found = differenceOf(units);
      const turned = differenceOf(units.map((one) => ({ ...one, isAdvised: !one.isAdvised })));
      expect(found === undefined).toBe(turned === undefined);
      if (found === undefined) return;
      expect(found.difference).toBeCloseTo(-(turned?.difference ?? 0), 5);
      expect(found.low <= found.onceLow && found.onceLow <= found.onceHigh && found.onceHigh <= found.high).toBe(true);
      expect(differenceOf(units.toReversed())?.difference).toBeCloseTo(found.difference, 5);
    }),
  );
});

test('shares that change with the times do not make an effect: arms are compared within configuration and share', () => {
  // In easy times most units are advised, in hard times few: pooled, advice would seem to work wonders.
  const times = (stratum: string, toldOf100: number, goodOf10: number): readonly TrialUnit[] =>
    Array.from({ length: 200 }, (_, index) => {
      const isAdvised = Math.floor(index / 2) < toldOf100;
      return { cluster: `${stratum}${index}`, stratum, isAdvised, good: index % 10 < goodOf10 };
    });
  expect(differenceOf([...times('easy', 90, 8), ...times('hard', 10, 2)])?.difference).toBeCloseTo(0, 6);
});

test('arms that lost units of one side are called uneven', () => {
  const rows = rowsOf(NO_EFFECT, 200);
  expect(named(rows, 'stuck')?.balanced).toBe(true);
  const isTold = ({ units }: EffectRow): boolean => units.some(({ withheld }) => !withheld);
  let advised = 0;
  const lossy = rows.filter((row) => !isTold(row) || (advised += 1) % 3 === 0);
  expect(named(lossy, 'stuck')?.balanced).toBe(false);
});

test('without an experiment nothing is compared, whatever the counts, and the runs that one would take are stated', () => {
  const rows = rowsOf({ ...HELPS, share: 0 }, 100);
  const { experiments, notes, runs } = report(rows);
  expect(runs).toMatchObject({ read: 100, steered: 100, drawnByEpisode: 0, drawnByRun: 0 });
  expect(experiments[0]).toMatchObject({ status: 'not-drawn', difference: null, advised: null });
  expect(experiments[0]?.power[0]?.moreRuns).toBeGreaterThan(1_000);
  expect(notes).toHaveLength(1);
});

test('left out are runs that lost records, and episodes of runs that go on and had too few calls since', () => {
  const rows = rowsOf(HELPS, 40);
  expect(report(rows.map((row) => ({ ...row, gap: true })))).toMatchObject({
    runs: { leftOutForGap: 40 },
    experiments: [],
  });
  const goesOn = (one: AdvisedUnit): AdvisedUnit => ({ ...one, advice: { ...one.advice, callsLeft: 4 } });
  const isOpen = (row: EffectRow): EffectRow => ({ ...row, ended: false, units: row.units.map(goesOn) });
  const open = rows.map(isOpen);
  // Also where it has left the pattern already: else episodes that do would be more likely to count.
  expect(named(open, 'stuck')).toMatchObject({ unknown: 40, advised: { units: 0 }, withheld: { units: 0 } });
});

test('a run that ends in success soon after has left its pattern, one that ends otherwise has not', () => {
  const [row] = rowsOf({ ...HELPS, follows: 0, leaves: 0 }, 1);
  const [first] = row?.units ?? [];
  if (row === undefined || first === undefined) throw new Error('no advice');
  const advice = { ...first.advice, callsLeft: 3 };
  const ended = (success: boolean | null): number => {
    const { advised, withheld } = named([{ ...row, success, units: [{ ...first, advice }] }], 'stuck') ?? {};
    return (advised?.good.hits ?? 0) + (withheld?.good.hits ?? 0);
  };
  expect([ended(true), ended(false), ended(null)]).toEqual([1, 0, 0]);
});

test('an experiment that draws runs compares whether they succeed, and of each run with its subagents the first episode', () => {
  const byRun = (row: EffectRow, number: number): EffectRow => {
    const withheld = number % 2 === 0;
    const holdout = { share: 0.5, withheld, within_calls: 10 };
    const steering = { mode: 'steer', configuration: 'c', holdout } as const;
    return {
      ...row,
      steering,
      success: withheld ? number % 4 === 0 : number % 8 !== 1,
      units: row.units.map((one) => ({ ...one, withheld })),
    };
  };
  const roots = rowsOf(MANY_EPISODES, 120).map(byRun);
  const childOf = (row: EffectRow, number: number): EffectRow => ({
    ...byRun(row, number),
    parent: roots[number]?.id ?? null,
  });
  const children = rowsOf(MANY_EPISODES, 120, 2).map(childOf);
  const { experiments, runs } = report([...children, ...roots]);
  expect(runs).toMatchObject({ drawnByRun: 240 });
  expect(experiments.at(-1)).toMatchObject({
    name: 'whole runs',
    outcome: 'succeeded',
    advised: { units: 60 },
    withheld: { units: 60 },
  });
  const [first] = experiments;
  expect((first?.advised?.units ?? 0) + (first?.withheld?.units ?? 0)).toBe(120);
});

test('the order of the rows changes nothing, and another number of calls than declared is named so', () => {
  const rows = rowsOf(HELPS, 60);
  const wanted = JSON.stringify(report(rows));
  expect(JSON.parse(wanted)).toMatchObject({ within: 10, declared: true });
  expect(report(rows, 5)).toMatchObject({ within: 5, declared: false });
  fc.assert(
    fc.property(fc.shuffledSubarray([...rows], { minLength: rows.length }), (shuffled) => {
      expect(JSON.stringify(report(shuffled))).toBe(wanted);
    }),
    { numRuns: 20 },
  );
});
