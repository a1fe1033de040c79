import type { TrialPair } from './trial.ts';
import type { ApiContext } from './viewer-env.ts';
import type { ViewerState } from './viewer-state.ts';

/** The two configurations that a request names. @throws CoxswainError as `Configurations.make` */
export async function trialPair({ configurations }: ViewerState, context: ApiContext): Promise<TrialPair> {
  const { against = 'recorded', under = 'standard' } = context.req.query();
  return [await configurations.make(against), await configurations.make(under)];
}
