import type { PartReport, SignalReport } from './backtest-report.ts';

/** Fewest labelled runs with a firing for a statement about a signal. */
const MIN_JUDGED_RUNS = 5;

/** Share of labelled runs that go wrong; undefined if either kind is missing. */
export function baseRate({ positive, negative }: Pick<PartReport, 'positive' | 'negative'>): number | undefined {
  return positive === 0 || negative === 0 ? undefined : positive / (positive + negative);
}

/** Returns true if the interval of the signal's precision contains the base rate: it carries no information on these runs. */
export function isChance({ precision: { high, low, of } }: Pick<SignalReport, 'precision'>, base: number): boolean {
  return of >= MIN_JUDGED_RUNS && low !== null && high !== null && low <= base && high >= base;
}

/** Returns true if fewer of the runs with a firing go wrong than of all runs. */
export function isContrary({ precision: { high, of } }: Pick<SignalReport, 'precision'>, base: number): boolean {
  return of >= MIN_JUDGED_RUNS && high !== null && high < base;
}
