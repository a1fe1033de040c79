import { rounded } from './statistics.ts';

/** The outcome of one unit of an experiment. */
export interface TrialUnit {
  /** The cluster id. Units of one cluster are not independent: they are episodes of the same run or of its child runs. */
  readonly cluster: string;
  /** The stratum id. Units of one stratum were drawn in the same way. Arms are compared within a stratum. */
  readonly stratum: string;
  readonly isAdvised: boolean;
  readonly good: boolean;
}

/** How much more often the outcome is good with advice, as a share of 1. For example, 0.05 is 5 percentage points. */
export interface Difference {
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
const Z = 1.959963984540054;
const Z_POWER = 0.8416212335729143;
/** The number of clusters at which the interval for any number of looks is narrowest. */
const TUNED_CLUSTERS = 300;
const RHO_SQUARED = (-2 * Math.log(ALPHA) + Math.log(-2 * Math.log(ALPHA) + 1)) / TUNED_CLUSTERS;

/**
 * Returns the difference between units with delivered and with withheld advice. The estimate is a least-squares fit with a constant per
 * stratum. The variance treats each cluster as one observation (K.-Y. Liang and S. L. Zeger, Biometrika 73, 1986). Both intervals add one
 * good and one bad unit to each arm, so that shares of 0 and 1 still have a width (A. Agresti and B. Caffo, The American Statistician 54,
 * 2000). The interval for any number of looks is the asymptotic confidence sequence of I. Waudby-Smith and others, "Time-uniform central
 * limit theory and asymptotic confidence sequences", Annals of Statistics 52, 2024.
 *
 * @returns undefined if no stratum has both arms
 * Cost: O(units).
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

/**
 * Returns the number of clusters needed to detect a difference of this size with a probability of 80 %. It uses the interval for any
 * number of looks.
 *
 * @param variance  variance per cluster
 */
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

interface Fit {
  readonly estimate: number;
  readonly error: number;
  readonly clusters: number;
}

function fit(units: readonly TrialUnit[]): Fit | undefined {
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
