import { CoxswainError } from '../base/error.ts';
import { shownAddress } from '../store/store-address.ts';
import { DEFAULT_WITHIN_CALLS } from '../run-view/advice-outcome.ts';
import type { EffectReport } from './effect-report.ts';
import { EffectRowFold, type EffectRow } from './effect-row.ts';
import { measureEffect } from './measure-effect.ts';
import { runItems, type OnReadProblem } from './run-items.ts';

/** How the effect of advice is measured. */
export interface EffectOptions {
  /** Calls within which a pattern should be left, from 1; default 10. */
  readonly within?: number;
  /** Told what could not be read; the rest is read all the same. Default: nobody. */
  readonly onProblem?: OnReadProblem;
  /** Told after each run. */
  readonly onRun?: () => void;
}

/**
 * What followed advice in recorded runs, and where an experiment drew arms, delivered against withheld.
 *
 * @param paths  stores, files of exported runs, folders, globs
 * @throws CoxswainError `invalid-argument` for a `within` that is no whole number from 1, and as opening and listing a store
 * Memory: a small row a run, and the folds of runs that are open.
 */
export async function effect(paths: readonly string[], options: EffectOptions = {}): Promise<EffectReport> {
  const { onProblem = () => undefined, onRun, within = DEFAULT_WITHIN_CALLS } = options;
  if (!Number.isSafeInteger(within) || within < 1) {
    throw new CoxswainError('invalid-argument', `within must be a whole number from 1, got ${within}`);
  }
  const folds = new Map<string, EffectRowFold>();
  const rows: EffectRow[] = [];
  for await (const item of runItems(paths, onProblem)) {
    let fold = folds.get(item.run);
    if (item.type === 'record') {
      if (fold === undefined) folds.set(item.run, (fold = new EffectRowFold(item.run, within)));
      fold.fold(item.record);
    } else if (fold !== undefined) {
      folds.delete(item.run);
      rows.push(fold.row());
      onRun?.();
    }
  }
  return measureEffect({ paths: paths.map(shownAddress), within, rows });
}
