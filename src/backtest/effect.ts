import { present } from '../base/present.ts';
import { invalidArgument } from '../base/error.ts';
import { shownAddress } from '../store/store-address.ts';
import type { EffectReport } from './effect-report.ts';
import { EffectRowFold, type EffectRow, type EffectRowOptions } from './effect-row.ts';
import { measureEffect } from './measure-effect.ts';
import { runItems, type OnReadProblem } from './run-items.ts';

/** How the effect of advice is measured. */
export interface EffectOptions extends Pick<EffectRowOptions, 'prices'> {
  /** Calls within which a pattern should clear, from 1; default: the experiment's declaration, else 10. */
  readonly within?: number;
  /** The smallest difference that matters, above 0 up to 1; default 0.05. */
  readonly worthwhile?: number;
  /** Receives read errors; the rest is still read. */
  readonly onProblem?: OnReadProblem;
  /** Called after each run. */
  readonly onRun?: () => void;
}

/** Five points: a smaller difference goes unnoticed. */
export const DEFAULT_WORTHWHILE = 0.05;

/**
 * Measures what followed advice in recorded runs and, in experiments, compares advised with withheld units.
 *
 * @param paths  stores, files of exported runs, folders, globs
 * @throws CoxswainError `invalid-argument` for a `within` or `worthwhile` outside its range, and as opening and listing a store
 * Memory: a small row per run, and the folds of open runs.
 */
export async function effect(paths: readonly string[], options: EffectOptions = {}): Promise<EffectReport> {
  const { onProblem = () => undefined, onRun, within, worthwhile = DEFAULT_WORTHWHILE } = options;
  if (within !== undefined && (!Number.isSafeInteger(within) || within < 1)) {
    throw invalidArgument(`within must be a whole number from 1, got ${within}`);
  }
  if (!(worthwhile > 0 && worthwhile <= 1)) {
    throw invalidArgument(`worthwhile must be above 0 and up to 1, got ${worthwhile}`);
  }
  const folds = new Map<string, EffectRowFold>();
  const rows: EffectRow[] = [];
  for await (const item of runItems(paths, onProblem)) {
    let fold = folds.get(item.run);
    if (item.type === 'record') {
      if (fold === undefined)
        folds.set(item.run, (fold = new EffectRowFold(item.run, { within, prices: options.prices })));
      fold.fold(item.record);
    } else if (fold !== undefined) {
      folds.delete(item.run);
      rows.push(fold.row());
      onRun?.();
    }
  }
  return measureEffect({ paths: paths.map(shownAddress), ...present({ within }), worthwhile, rows });
}
