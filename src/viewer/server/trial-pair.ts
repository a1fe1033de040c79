import type { Configuration } from '../../backtest/configuration.ts';
import { parseSweep } from '../../backtest/sweep-report.ts';
import type { TrialPair } from './trial.ts';
import type { ApiContext } from './viewer-env.ts';
import type { ViewerState } from './viewer-state.ts';

/** Returns the two configurations of a request. @throws CoxswainError with the errors of `Configurations.make` */
export async function trialPair({ configurations }: ViewerState, context: ApiContext): Promise<TrialPair> {
  const { against = 'recorded', under = 'standard' } = context.req.query();
  return [await configurations.makeConfiguration(against), await configurations.makeConfiguration(under)];
}

/**
 * Returns the configurations of a trial. With `sweep` (such as `doomLoop.maxRepetitions=2..6`) there is one per value. Otherwise there
 * are two.
 *
 * @throws CoxswainError with the errors of `trialPair` and `parseSweep`
 */
export async function trialConfigurations(state: ViewerState, context: ApiContext): Promise<readonly Configuration[]> {
  const { sweep, under = 'standard' } = context.req.query();
  if (sweep === undefined) return trialPair(state, context);
  const { field, values } = parseSweep(sweep);
  return Promise.all(values.map((value) => state.configurations.makeConfiguration(under, { field, value })));
}
