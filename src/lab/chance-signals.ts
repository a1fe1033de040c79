import type { PartReport, SignalReport } from './backtest-report.ts';

/** The minimum number of labelled runs with a firing that a statement about a signal needs. */
const MIN_JUDGED_RUNS = 5;

/** Returns the share of labelled runs that go wrong, or undefined if there are no positive or no negative runs. */
export function baseRate({ positive, negative }: Pick<PartReport, 'positive' | 'negative'>): number | undefined {
  return positive === 0 || negative === 0 ? undefined : positive / (positive + negative);
}

/** Returns true if the interval of the signal's precision contains the base rate. Such a signal carries no information on these runs. */
export function isChance({ precision: { high, low, of } }: Pick<SignalReport, 'precision'>, base: number): boolean {
  return of >= MIN_JUDGED_RUNS && low !== null && high !== null && low <= base && high >= base;
}
