import { present } from '../core/base/json.ts';
import type { Delivery, AdviceOutcome } from '../core/facts/advice-outcome.ts';
import { DECLARED_WITHIN_CALLS } from '../core/steering/holdout.ts';
import {
  EFFECT_REPORT_VERSION,
  MIN_RUNS_AN_ARM,
  STATED_DIFFERENCES,
  type ArmFigures,
  type EffectExperiment,
  type EffectOutcome,
  type EffectReport,
  type AdvisedUnit,
  type EffectRow,
} from './effect-row.ts';
import { quartilesOf, rounded, shareOf, Z } from './statistics.ts';

export interface TrialUnit {
  /** The cluster id. Units of one cluster are not independent: they are episodes of the same run or of its child runs. */
  readonly cluster: string;
  /** The stratum id. Units of one stratum were drawn in the same way. Arms are compared within a stratum. */
  readonly stratum: string;
  readonly isAdvised: boolean;
  readonly good: boolean;
}

/** How much more often the outcome is good with advice, as a share of 1. For example, 0.05 is 5 percentage points. */
interface Difference {
  readonly difference: number;
  /** 95 % interval that stays valid for any number of looks at the data. */
  readonly low: number;
  readonly high: number;
  /** 95 % interval for a single look, after a number of runs fixed beforehand. */
  readonly onceLow: number;
  readonly onceHigh: number;
  readonly clusters: number;
  /** Variance of the difference per cluster. */
  readonly variance: number;
}

const ALPHA = 0.05;
/** Two-sided 95 % and one-sided 80 % quantiles of the normal distribution. */
const Z_POWER = 0.8416212335729143;
/** The number of clusters at which the interval for any number of looks is narrowest. */
const TUNED_CLUSTERS = 300;
const RHO_SQUARED = (-2 * Math.log(ALPHA) + Math.log(-2 * Math.log(ALPHA) + 1)) / TUNED_CLUSTERS;

/**
 * A least-squares fit with a constant per stratum; each cluster is one observation (K.-Y. Liang and S. L. Zeger,
 * Biometrika 73, 1986). Both intervals add one good and one bad unit to each arm (A. Agresti and B. Caffo, The American
 * Statistician 54, 2000). For any number of looks: the asymptotic confidence sequence of I. Waudby-Smith and others,
 * "Time-uniform central limit theory and asymptotic confidence sequences", Annals of Statistics 52, 2024. Undefined if
 * no stratum has both arms. Cost: O(units).
 */
export function differenceOf(units: readonly TrialUnit[]): Difference | undefined {
  const fitted = fit(units);
  if (fitted === undefined) return undefined;
  const stratum = largestStratum(units);
  const added = [true, false].flatMap((isAdvised) =>
    [true, false].map((good) => ({ cluster: `added ${isAdvised} ${good}`, stratum, isAdvised, good })),
  );
  const { clusters } = fitted;
  const { error, estimate } = fit([...units, ...added]) ?? fitted;
  const half = alwaysFactor(clusters) * error;
  const boundOf = (value: number): number => rounded(Math.min(1, Math.max(-1, value)));
  return {
    difference: rounded(fitted.estimate),
    low: boundOf(estimate - half),
    high: boundOf(estimate + half),
    onceLow: boundOf(estimate - Z * error),
    onceHigh: boundOf(estimate + Z * error),
    clusters,
    variance: error * error * (clusters + added.length),
  };
}

/** For a probability of 80 %, by the interval for any number of looks. `variance`: per cluster. */
export function clustersFor(difference: number, variance: number): number {
  const hasPower = (clusters: number): boolean =>
    (alwaysFactor(clusters) + Z_POWER) * Math.sqrt(variance / clusters) <= difference;
  let [low, high] = [1, 2];
  while (!hasPower(high) && high < 1e12) [low, high] = [high, high * 2];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (hasPower(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** Returns the half width of the interval for any number of looks, in standard errors. */
function alwaysFactor(clusters: number): number {
  const spread = clusters * RHO_SQUARED;
  return Math.sqrt(((2 * (spread + 1)) / spread) * Math.log(Math.sqrt(spread + 1) / ALPHA));
}

function fit(
  units: readonly TrialUnit[],
): { readonly estimate: number; readonly error: number; readonly clusters: number } | undefined {
  const strata = new Map<string, { units: number; isAdvised: number; good: number }>();
  for (const { good, stratum, isAdvised } of units) {
    const sums = strata.get(stratum) ?? { units: 0, isAdvised: 0, good: 0 };
    strata.set(stratum, sums);
    sums.units += 1;
    sums.isAdvised += Number(isAdvised);
    sums.good += Number(good);
  }
  // In a stratum with only one arm, every unit equals the mean and contributes nothing.
  const rows = units.map(({ cluster, good, stratum, isAdvised }) => {
    const sums = strata.get(stratum) ?? { units: 1, isAdvised: 0, good: 0 };
    return {
      cluster,
      tilt: Number(isAdvised) - sums.isAdvised / sums.units,
      rest: Number(good) - sums.good / sums.units,
    };
  });
  const squares = rows.reduce((sum, { tilt }) => sum + tilt * tilt, 0);
  if (squares === 0) return undefined;
  const estimate = rows.reduce((sum, { rest, tilt }) => sum + tilt * rest, 0) / squares;
  const scores = new Map<string, number>();
  for (const { cluster, rest, tilt } of rows) {
    scores.set(cluster, (scores.get(cluster) ?? 0) + tilt * (rest - estimate * tilt));
  }
  const spread = [...scores.values()].reduce((sum, score) => sum + score * score, 0);
  const smallSampleFactor = scores.size / Math.max(1, scores.size - 1);
  return { estimate, error: Math.sqrt(smallSampleFactor * spread) / squares, clusters: scores.size };
}

function largestStratum(units: readonly TrialUnit[]): string {
  const counts = new Map<string, number>();
  for (const { stratum } of units) counts.set(stratum, (counts.get(stratum) ?? 0) + 1);
  return [...counts].sort(([one, more], [other, less]) => less - more || (one < other ? -1 : 1))[0]?.[0] ?? '';
}

export interface EffectInput {
  readonly paths: readonly string[];
  /** Overrides the number that the experiments declared. */
  readonly within?: number;
  /** The smallest difference that matters, as a share of 1. */
  readonly worthwhile: number;
  readonly rows: readonly EffectRow[];
}

interface Case {
  readonly cluster: string;
  readonly row: EffectRow;
  readonly withheld: boolean;
  /** Absent if the unit is a whole run. */
  readonly advice?: AdviceOutcome;
  readonly callsToLeave?: number;
  /** Null if unknown. */
  readonly good: boolean | null;
}

type UnitCase = Case & AdvisedUnit;
type Subject = Pick<EffectExperiment, 'name' | 'about' | 'outcome'>;

/** The withheld share that the power calculation assumes before an experiment exists. */
const USUAL_SHARE = 0.5;
/** Number of standard errors beyond which arms count as uneven. By chance this happens once in 1,000 times. */
const UNEVEN = 3.29;

/** Cost: O(n log n) in the number of units. The order of the rows does not matter. */
export function measureEffect({ paths, rows, within, worthwhile }: EffectInput): EffectReport {
  const sorted = [...rows].sort((left, right) => order(left.id, right.id));
  const roots = rootsOf(sorted);
  const steeredRows = sorted.filter(({ steering }) => steering !== null);
  const drawnRows = steeredRows.filter(({ steering }) => steering?.holdout != null);
  const usedRows = (drawnRows.length > 0 ? drawnRows : steeredRows).filter(({ gap }) => !gap);
  const isByRun = ({ steering }: EffectRow): boolean => steering?.holdout?.withheld !== undefined;
  const clusterOf = ({ id }: EffectRow): string => roots.get(id) ?? id;
  const byEpisode = usedRows.filter((row) => !isByRun(row));
  const byRun = usedRows.filter(isByRun);
  const cases = [...unitsOf(byEpisode, clusterOf), ...firstEpisodes(unitsOf(byRun, clusterOf))];
  const input = { drawn: drawnRows.length > 0, worthwhile, runs: new Set(usedRows.map(clusterOf)).size };
  const experiment = (subject: Subject, units: readonly Case[]): EffectExperiment => ({
    ...subject,
    ...compare(units, input),
  });
  const onPatterns = cases.filter(({ kind }) => kind !== null);
  const stuckUnits = onPatterns.filter((unit) => unit.stuck);
  const kinds = namesOf(onPatterns.map(({ kind }) => kind ?? ''));
  const otherCases = cases.filter(({ kind }) => kind === null);
  const declaredLimits = drawnRows.map((row) => row.within);
  return {
    version: EFFECT_REPORT_VERSION,
    paths,
    within: within ?? declaredLimits[0] ?? DECLARED_WITHIN_CALLS,
    declared: within === undefined && drawnRows.length > 0,
    worthwhile,
    runs: {
      read: rows.length,
      steered: steeredRows.length,
      shadow: steeredRows.filter(({ steering }) => steering?.mode === 'shadow').length,
      drawnByEpisode: drawnRows.filter((row) => !isByRun(row)).length,
      drawnByRun: drawnRows.filter(isByRun).length,
      leftOutForGap: steeredRows.filter(({ gap, units }) => gap && units.length > 0).length,
    },
    experiments: [
      ...(stuckUnits.length === 0
        ? []
        : [experiment({ name: 'stuck', about: 'all', outcome: 'left-pattern' }, stuckUnits)]),
      ...kinds.map((name) =>
        experiment(
          { name, about: 'pattern', outcome: 'left-pattern' },
          onPatterns.filter(({ kind }) => kind === name),
        ),
      ),
      ...namesOf(otherCases.map(({ advice }) => advice?.providerName ?? '')).map((name) => {
        const units = otherCases.filter(({ advice }) => advice?.providerName === name);
        const outcome = units.some(({ advice }) => advice?.inTime !== undefined) ? 'in-time' : 'succeeded';
        const judgedCase = (unit: UnitCase): Case => ({ ...unit, good: outcomeOf(unit, outcome) });
        return experiment({ name, about: 'provider', outcome }, units.map(judgedCase));
      }),
      ...(byRun.length === 0
        ? []
        : [experiment({ name: 'whole runs', about: 'run', outcome: 'succeeded' }, wholeRuns(byRun, clusterOf))]),
    ],
    providers: piecesByProvider(sorted),
    notes: notesOf(drawnRows.length > 0),
  };
}

function unitsOf(rows: readonly EffectRow[], clusterOf: (row: EffectRow) => string): readonly UnitCase[] {
  return rows.flatMap((row) =>
    row.units.map((advised) => {
      const unit = { ...advised, cluster: clusterOf(row), row };
      return { ...unit, good: outcomeOf(unit, 'left-pattern') };
    }),
  );
}

/** For experiments that draw runs: returns the first advised episode of each run and its child runs. Later episodes depend on the arm. */
function firstEpisodes(units: readonly UnitCase[]): readonly UnitCase[] {
  const first = new Map<string, UnitCase>();
  for (const unit of units) {
    if (!unit.stuck) continue;
    const earliest = first.get(unit.cluster);
    if (earliest === undefined || unit.advice.atMs < earliest.advice.atMs) first.set(unit.cluster, unit);
  }
  return [...first.values()];
}

function wholeRuns(rows: readonly EffectRow[], clusterOf: (row: EffectRow) => string): readonly Case[] {
  return rows
    .filter((row) => clusterOf(row) === row.id)
    .map((row) => ({
      cluster: row.id,
      row,
      withheld: row.steering?.holdout?.withheld === true,
      good: row.ended ? row.success : null,
    }));
}

function outcomeOf({ advice, callsToLeave, row }: Omit<Case, 'good'>, outcome: EffectOutcome): boolean | null {
  if (advice === undefined || outcome === 'succeeded') return row.ended ? row.success : null;
  if (outcome === 'in-time') return advice.inTime ?? null;
  const { callsLeft } = advice;
  // This also applies to units whose pattern has already cleared. Otherwise those units would be more likely to count.
  if (!row.ended && callsLeft < row.within) return null;
  if (callsToLeave !== undefined && callsToLeave <= row.within) return true;
  return row.success === true && callsLeft <= row.within;
}

function compare(
  cases: readonly Case[],
  input: { readonly drawn: boolean; readonly worthwhile: number; readonly runs: number },
): Omit<EffectExperiment, keyof Subject> {
  const knownCases = cases.filter(({ good }) => good !== null);
  const unknownCount = cases.length - knownCases.length;
  const noDifference = { difference: null, low: null, high: null, onceLow: null, onceHigh: null };
  const clusters = new Set(knownCases.map(({ cluster }) => cluster)).size;
  const moreRuns = (variance: number, currentClusters: number): EffectExperiment['power'] =>
    STATED_DIFFERENCES.map((difference) => {
      const neededClusters = Math.max(0, clustersFor(difference, variance) - currentClusters);
      return { difference, moreRuns: clusters === 0 ? null : Math.ceil((neededClusters * input.runs) / clusters) };
    });
  const goodCount = knownCases.filter((one) => one.good === true).length;
  // This variance assumes one unit per run. It is used until the arms are large enough.
  // It adds one good and one bad unit, because a share of 0 or 1 over few units is less certain than it looks.
  const share = (goodCount + 1) / (knownCases.length + 2);
  const designFactor = (share * (1 - share)) / (USUAL_SHARE * (1 - USUAL_SHARE));
  if (!input.drawn) {
    const power = moreRuns(designFactor, 0);
    return {
      status: 'not-drawn',
      advised: null,
      withheld: null,
      ...noDifference,
      power,
      balanced: true,
      unknown: unknownCount,
    };
  }
  const [advised, withheld] = [
    armOf(knownCases.filter((one) => !one.withheld)),
    armOf(knownCases.filter((one) => one.withheld)),
  ];
  const figures = { advised, withheld, balanced: isBalanced(knownCases), unknown: unknownCount };
  const estimate = differenceOf(knownCases.map(trialUnit));
  if (estimate === undefined || Math.min(advised.runs, withheld.runs) < MIN_RUNS_AN_ARM) {
    return { status: 'too-little-data', ...noDifference, power: moreRuns(designFactor, clusters), ...figures };
  }
  const { clusters: currentClusters, variance, ...difference } = estimate;
  const status = statusOf(estimate, input.worthwhile);
  return { status, ...difference, power: moreRuns(variance, currentClusters), ...figures };
}

function trialUnit({ cluster, good, row, withheld }: Case): TrialUnit {
  const { configuration, holdout } = row.steering ?? {};
  const stratum = `${configuration} ${holdout?.share} ${row.within} ${holdout?.withheld === undefined}`;
  return { cluster, stratum, isAdvised: !withheld, good: good === true };
}

function statusOf(
  { high, low }: { readonly low: number; readonly high: number },
  worthwhile: number,
): EffectExperiment['status'] {
  if (low > 0) return 'helps';
  if (high < 0) return 'harms';
  return low > -worthwhile && high < worthwhile ? 'no-difference' : 'undecided';
}

function isBalanced(cases: readonly Case[]): boolean {
  let [over, variance] = [0, 0];
  for (const { row, withheld } of cases) {
    const share = row.steering?.holdout?.share ?? 0;
    over += Number(withheld) - share;
    variance += share * (1 - share);
  }
  return Math.abs(over) <= UNEVEN * Math.sqrt(variance);
}

interface Followed extends AdviceOutcome {
  readonly callsToLeave?: number;
  readonly within: number;
}

function armOf(cases: readonly Case[]): ArmFigures {
  const outcomes = cases.flatMap(({ advice, callsToLeave, row }): readonly Followed[] =>
    advice === undefined ? [] : [{ ...advice, ...present({ callsToLeave }), within: row.within }],
  );
  const sum = (pick: (outcome: AdviceOutcome) => number): number =>
    outcomes.reduce((total, outcome) => total + pick(outcome), 0);
  const count = (matches: (outcome: Followed) => boolean): number => outcomes.filter(matches).length;
  const toLeave = outcomes.flatMap(({ callsToLeave }) => (callsToLeave === undefined ? [] : [callsToLeave]));
  const { q1, median, q3 } = quartilesOf(toLeave);
  const costs = outcomes.flatMap(({ followingCostUsd }) => (followingCostUsd === undefined ? [] : [followingCostUsd]));
  return {
    units: cases.length,
    runs: new Set(cases.map(({ cluster }) => cluster)).size,
    reached: count(({ delivery }) => delivery === 'delivered'),
    good: shareOf(cases.filter(({ good }) => good === true).length, cases.length),
    callsToLeave: { q1, median, q3 },
    repeated: count(({ nextCall }) => nextCall === 'repeated' || nextCall === 'same-failure'),
    calls: sum(({ followingCalls }) => followingCalls),
    errors: sum(({ followingErrors }) => followingErrors),
    costUsd: costs.length === 0 ? null : rounded(costs.reduce((total, cost) => total + cost, 0) / costs.length),
    costKnown: costs.length,
    endedBefore: count(({ callsLeft, callsToLeave, within }) => callsLeft < within && callsToLeave === undefined),
    accepted: count(({ response }) => response === 'accepted'),
    rejected: count(({ response }) => response === 'rejected'),
    noted: count(({ response }) => response === 'noted'),
  };
}

function piecesByProvider(rows: readonly EffectRow[]): EffectReport['providers'] {
  const counts = new Map<string, Record<Delivery, number>>();
  for (const { pieces } of rows) {
    for (const { count, delivery, provider } of pieces) {
      const sums = counts.get(provider) ?? { delivered: 0, withheld: 0, shadowed: 0, undelivered: 0, unsettled: 0 };
      counts.set(provider, sums);
      sums[delivery] += count;
    }
  }
  return namesOf(counts.keys()).flatMap((provider) => {
    const pieces = counts.get(provider);
    return pieces === undefined ? [] : [{ provider, pieces }];
  });
}

function notesOf(drawn: boolean): readonly string[] {
  if (!drawn) {
    return [
      'No experiment was drawn, so nothing is compared: runs with advice differ from others in the reason for the advice.',
    ];
  }
  return [
    'Runs are compared by the arm that was drawn, whether or not the advice arrived. A run that ended earlier without leaving its pattern counts as not having left it.',
    'Intervals are valid for any number of looks, and treat the episodes of one run as one cluster. Decide by the first experiment: of twenty kinds without any effect, one is expected to look as if it had one.',
    'Leaving a pattern is not success at the task.',
  ];
}

function rootsOf(rows: readonly EffectRow[]): ReadonlyMap<string, string> {
  const parents = new Map(rows.map(({ id, parent }) => [id, parent]));
  return new Map(
    rows.map(({ id }) => {
      const visitedIds = new Set([id]);
      let root = id;
      for (let parent = parents.get(id) ?? null; parent !== null && !visitedIds.has(parent);) {
        // Imported records may contain cyclic parents.
        visitedIds.add(parent);
        root = parent;
        parent = parents.get(parent) ?? null;
      }
      return [id, root];
    }),
  );
}

function namesOf(names: Iterable<string>): readonly string[] {
  return [...new Set(names)].sort(order);
}

function order(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
