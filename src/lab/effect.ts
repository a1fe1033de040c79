import { invalidArgument } from '../core/base/error.ts';
import { present } from '../core/base/json.ts';
import { RunIds } from '../formats/run-ids.ts';
import { shownAddress } from '../stores/store-address.ts';
import type { EffectReport, EffectRow, EffectRowFold, EffectRowOptions } from './effect-row.ts';
import type { OnReadProblem, ShardReader } from './read-shard.ts';
import { copiesNote } from './judge-gates.ts';

export interface EffectOptions extends Pick<EffectRowOptions, 'prices'> {
  /** Number of calls within which a pattern should clear, at least 1. Default: the number that the experiment declared, or else 10. */
  readonly within?: number;
  /** The smallest difference that matters, above 0 and at most 1. Default: 0.05. */
  readonly worthwhile?: number;
  /** Receives read errors. Reading continues with the rest of the input. */
  readonly onProblem?: OnReadProblem;
  readonly onRun?: () => void;
}

/** Five percentage points. A smaller difference goes unnoticed in practice. */
const DEFAULT_WORTHWHILE = 0.05;

/**
 * Measures what followed the advice in recorded runs. For experiments it also compares units with delivered and with withheld advice.
 *
 * @param paths  stores, files of exported runs, folders, globs
 * @throws CoxswainError `invalid-argument` for a `within` or `worthwhile` outside its range; also the errors of opening and listing a
 * store
 * Memory: a small row per run, and the state of open runs.
 */
export async function effect(paths: readonly string[], options: EffectOptions = {}): Promise<EffectReport> {
  const { onProblem = () => undefined, onRun, within, worthwhile = DEFAULT_WORTHWHILE } = options;
  if (within !== undefined && (!Number.isSafeInteger(within) || within < 1)) {
    throw invalidArgument(`the option within (a number of calls) must be a whole number from 1, got ${within}`);
  }
  if (!(worthwhile > 0 && worthwhile <= 1)) {
    throw invalidArgument(`the option worthwhile (a difference) must be above 0 and at most 1, got ${worthwhile}`);
  }
  // Loaded on demand, as in `backtest`.
  const rowFolds = await import('./effect-row.ts');
  const { measureEffect } = await import('./measure-effect.ts');
  const { readShard } = await import('./read-shard.ts');
  const { listShards } = await import('./list-shards.ts');
  const folds = new Map<string, EffectRowFold>();
  const rows: EffectRow[] = [];
  const ids = new RunIds();
  const reader: ShardReader = {
    record(run, record) {
      const fold = folds.get(run) ?? new rowFolds.EffectRowFold(run, { within, prices: options.prices });
      folds.set(run, fold);
      fold.fold(record);
    },
    end(run) {
      const fold = folds.get(run);
      if (fold === undefined) return;
      folds.delete(run);
      rows.push(fold.row());
      onRun?.();
    },
    problem: onProblem,
  };
  for (const shard of await listShards(paths)) await readShard(shard, reader, ids);
  const report = measureEffect({ paths: paths.map(shownAddress), ...present({ within }), worthwhile, rows });
  return { ...report, notes: [...copiesNote(ids.repeated), ...report.notes] };
}
