import { defineProvider, type ProviderDefinition } from '../prompt/define-provider.ts';
import type { TrajectoryObserver } from '../prompt/trajectory-observer.ts';
import { DEADLINE_REPORT, deadlineReport, type DeadlineReportOptions } from './deadline-report.ts';

/**
 * The observer that says what `deadlineFeedback` says. Default trigger: every 30 seconds.
 *
 * @throws CoxswainError "invalid-definition" when the threshold is not a number from 0
 */
export const deadlineObserver: ProviderDefinition<DeadlineReportOptions, TrajectoryObserver> = defineProvider<
  DeadlineReportOptions,
  TrajectoryObserver
>(DEADLINE_REPORT, (options): TrajectoryObserver => ({
  name: 'Deadline',
  defaultTrigger: { everyNSeconds: 30 },
  shouldRun: (_session, context) => context.deadline !== undefined,
  observe: (_session, context) => deadlineReport(context, options),
}));
