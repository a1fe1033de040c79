import type { PartReport, SignalReport } from './backtest-report.ts';

/** Labelled runs in which a signal must have fired before a sentence about it is worth reading. */
const MIN_JUDGED_RUNS = 5;

/** The share of labelled runs that go wrong, whatever is said in them; undefined where that cannot be compared. */
export function baseRate({ positive, negative }: Pick<PartReport, 'positive' | 'negative'>): number | undefined {
  return positive === 0 || negative === 0 ? undefined : positive / (positive + negative);
}

/** Whether a signal carries no information on these runs: the interval of its precision holds the share that goes wrong anyway. */
export function isChance({ precision: { high, low, of } }: Pick<SignalReport, 'precision'>, base: number): boolean {
  return of >= MIN_JUDGED_RUNS && low !== null && high !== null && low <= base && high >= base;
}

/** Whether a signal points the wrong way: fewer of the runs in which it speaks go wrong than of all. */
export function isContrary({ precision: { high, of } }: Pick<SignalReport, 'precision'>, base: number): boolean {
  return of >= MIN_JUDGED_RUNS && high !== null && high < base;
}
