import type { QuartilesReport, RateRatioReport, SavedReport, ShareReport } from './backtest-report.ts';

/** The two-sided 95 % quantile of the normal distribution. */
export const Z = 1.959963984540054;
const BINS = 10;

/** Rounds to six decimals. This is precise enough for every figure, and it gives the same bytes for any order of addition. */
export function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

/**
 * 95 % score interval (E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of
 * the American Statistical Association 22, 1927). Also valid for few runs and for shares near 0 and 1.
 */
export function shareOf(hits: number, of: number): ShareReport {
  if (of === 0) return { hits, of, share: null, low: null, high: null };
  return { hits, of, share: rounded(hits / of), ...intervalOf(hits / of, of) };
}

function intervalOf(share: number, of: number): { readonly low: number; readonly high: number } {
  const z2 = Z * Z;
  const centre = (share + z2 / (2 * of)) / (1 + z2 / of);
  const half = (Z / (1 + z2 / of)) * Math.sqrt((share * (1 - share)) / of + z2 / (4 * of * of));
  // For shares of 0 and 1, the interval must contain the share despite rounding errors.
  const low = share === 0 ? 0 : rounded(Math.max(0, centre - half));
  const high = share === 1 ? 1 : rounded(Math.min(1, centre + half));
  return { low, high };
}

/**
 * Each run is one cluster; 95 % by the linearised variance of a ratio (W. G. Cochran, "Sampling Techniques", 1977,
 * section 6.3). If all runs are alike, which shows no variance, Wilson's for as many runs as their sizes amount to (L. Kish, "Survey
 * Sampling", 1965, section 11.7).
 */
export function ratioOf(runs: readonly { readonly part: number; readonly whole: number }[]): SavedReport {
  const savedTotal = runs.reduce((sum, { part }) => sum + part, 0);
  const of = runs.reduce((sum, { whole }) => sum + whole, 0);
  if (of === 0) return { saved: savedTotal, of, share: null, low: null, high: null };
  const share = savedTotal / of;
  const squares = runs.reduce((sum, { part, whole }) => sum + (part - share * whole) ** 2, 0);
  const saved = rounded(savedTotal);
  if (squares < 1e-12 * of * of) {
    const size = of ** 2 / runs.reduce((sum, { whole }) => sum + whole ** 2, 0);
    return { ...intervalOf(share, size), saved, of: rounded(of), share: rounded(share) };
  }
  const half = (Z * Math.sqrt((squares * runs.length) / (runs.length - 1))) / of;
  const [low, high] = [Math.max(0, share - half), Math.min(1, share + half)];
  return { saved, of: rounded(of), share: rounded(share), low: rounded(low), high: rounded(high) };
}

/** Returns the harmonic mean of precision and recall. Null if either is unknown or both are 0. */
export function f1Of(precision: ShareReport, recall: ShareReport): number | null {
  if (precision.of === 0 || recall.of === 0 || precision.hits === 0) return null;
  return rounded((2 * precision.hits) / (precision.of + recall.of));
}

/** Returns the quartiles and the counts per tenth of numbers from 0 to 1. Sorts `values` in place. */
export function quartilesOf(values: number[]): QuartilesReport {
  values.sort((left, right) => left - right);
  const bins = Array.from({ length: BINS }, () => 0);
  for (const value of values) {
    const bin = Math.min(BINS - 1, Math.floor(value * BINS));
    bins[bin] = (bins[bin] ?? 0) + 1;
  }
  return { q1: quantile(values, 0.25), median: quantile(values, 0.5), q3: quantile(values, 0.75), bins };
}

function quantile(sorted: readonly number[], share: number): number | null {
  const place = (sorted.length - 1) * share;
  const lowerValue = sorted[Math.floor(place)];
  const upperValue = sorted[Math.ceil(place)];
  if (lowerValue === undefined || upperValue === undefined) return null;
  return rounded(lowerValue + (upperValue - lowerValue) * (place - Math.floor(place)));
}

export interface RunAtRisk {
  readonly positive: boolean;
  readonly calls: number;
  /** Runs are compared within their group only. */
  readonly group: string;
  /** The 0-based call of the first firing, or null without one. */
  readonly firstCall: number | null;
}

/**
 * The pooled ratio of N. Mantel and W. Haenszel (Journal of the National Cancer Institute 22, 1959) with one stratum
 * per group and call. The variance of its logarithm, valid for many strata with few events: S. Greenland and J. M.
 * Robins ("Estimation of a common effect parameter from sparse follow-up data", Biometrics 41, 1985).
 */
export function rateRatioOf(runs: readonly RunAtRisk[]): RateRatioReport {
  const sums: PairSums = { higherPairs: 0, lowerPairs: 0, variance: 0, positiveEvents: 0, negativeEvents: 0 };
  let comparedRuns = 0;
  for (const group of Map.groupBy(runs, (run) => run.group).values()) {
    addGroup(group, sums);
    const positiveRuns = group.filter(({ positive }) => positive).length;
    if (positiveRuns > 0 && positiveRuns < group.length) comparedRuns += group.length;
  }
  const { higherPairs, lowerPairs, negativeEvents, positiveEvents, variance } = sums;
  const counts = { positiveEvents, negativeEvents, comparedRuns };
  if (higherPairs === 0 || lowerPairs === 0) return { ratio: null, low: null, high: null, ...counts };
  const ratio = higherPairs / lowerPairs;
  const spread = Math.exp(Z * Math.sqrt(variance / (higherPairs * lowerPairs)));
  return { ratio: rounded(ratio), low: rounded(ratio / spread), high: rounded(ratio * spread), ...counts };
}

interface PairSums {
  higherPairs: number;
  lowerPairs: number;
  variance: number;
  positiveEvents: number;
  negativeEvents: number;
}

function addGroup(runs: readonly RunAtRisk[], sums: PairSums): void {
  const positive = riskOf(runs, true);
  const negative = riskOf(runs, false);
  sums.positiveEvents += positive.count;
  sums.negativeEvents += negative.count;
  for (const call of [...new Set([...positive.events.keys(), ...negative.events.keys()])].sort((a, b) => a - b)) {
    const a = positive.events.get(call) ?? 0;
    const b = negative.events.get(call) ?? 0;
    const n1 = positive.atRisk(call);
    const n0 = negative.atRisk(call);
    const runCount = n1 + n0;
    sums.higherPairs += (a * n0) / runCount;
    sums.lowerPairs += (b * n1) / runCount;
    sums.variance += ((a + b) * n1 * n0 - a * b * runCount) / (runCount * runCount);
  }
}

interface Risk {
  readonly count: number;
  /** Number of first firings per call. */
  readonly events: ReadonlyMap<number, number>;
  /** Number of runs with more than `call` calls and no firing before it. */
  readonly atRisk: (call: number) => number;
}

function riskOf(runs: readonly RunAtRisk[], positive: boolean): Risk {
  const events = new Map<number, number>();
  // A run leaves the risk set after its first firing or its last call, whichever comes first.
  const leftOut = new Float64Array(runs.length);
  let size = 0;
  let count = 0;
  for (const run of runs) {
    if (run.positive !== positive) continue;
    const { calls, firstCall } = run;
    leftOut[size] = Math.min(firstCall ?? Infinity, calls - 1);
    size += 1;
    if (firstCall === null) continue;
    count += 1;
    events.set(firstCall, (events.get(firstCall) ?? 0) + 1);
  }
  // Sorting a typed array of numbers is twice as fast as sorting a plain array.
  const leaves = leftOut.subarray(0, size).sort();
  return { count, events, atRisk: (call) => leaves.length - firstAtLeast(leaves, call) };
}

function firstAtLeast(sorted: Float64Array, target: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < target) low = middle + 1;
    else high = middle;
  }
  return low;
}
