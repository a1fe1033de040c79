import type { BacktestOptions, BacktestResult } from './backtest-options.ts';

/**
 * Replays recorded runs under a configuration, and compares the advice with how the runs ended. The replay uses the same code as a live
 * run and the timestamps of the records. The result is deterministic: the report does not depend on the number of threads.
 *
 * @param paths stores, files of any import format, folders, globs, or `-`
 * @throws CoxswainError "invalid-argument" for an invalid configuration, sweep or number of threads, or for a model-backed classifier
 * without a recorded verdict; "input-io" if no run was read or no label belongs to a run; also the errors of opening a store
 * Memory: the state of open runs, and a row of about 500 bytes per run.
 */
export async function backtest(paths: readonly string[], options: BacktestOptions = {}): Promise<BacktestResult> {
  // The replay needs most of the library, which takes longer to load than Node.
  const { runBacktest } = await import('./run-backtest.ts');
  return runBacktest(paths, options);
}
