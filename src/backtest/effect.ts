import { present } from '../base/present.ts';
import { invalidArgument } from '../base/error.ts';
import { shownAddress } from '../store/store-address.ts';
import type { EffectReport } from './effect-report.ts';
import { EffectRowFold, type EffectRow, type EffectRowOptions } from './effect-row.ts';
import { measureEffect } from './measure-effect.ts';
import { runItems, type OnReadProblem } from './run-items.ts';

/** How the effect of advice is measured. */
export interface EffectOptions extends Pick<EffectRowOptions, 'prices'> {
  /** Calls within which a pattern should be left, from 1; default: what the experiment declared, else 10. */
  readonly within?: number;
  /** The least difference that matters, above 0 up to 1; default 0.05. */
  readonly worthwhile?: number;
  /** Told what could not be read; the rest is read all the same. Default: nobody. */
  readonly onProblem?: OnReadProblem;
  /** Told after each run. */
  readonly onRun?: () => void;
}

/** Five points: with fewer, a person would not notice. */
export const DEFAULT_WORTHWHILE = 0.05;

/**
 * What followed advice in recorded runs, and where an experiment drew arms, told against withheld.
 *
 * @param paths  stores, files of exported runs, folders, globs
 * @throws CoxswainError `invalid-argument` for a `within` or `worthwhile` outside its range, and as opening and listing a store
 * Memory: a small row a run, and the folds of runs that are open.
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
