import type { TrajectoryObserver } from '../prompt/trajectory-observer.ts';
import { deadlineReport, warningThresholdMs } from './deadline-report.ts';
import type { DeadlineReportOptions } from './deadline-report.ts';

/**
 * The observer that says what `deadlineFeedback` says. Default trigger: every 30 seconds.
 *
 * @throws CoxswainError "invalid-definition" when the threshold is not a number from 0
 */
export function deadlineObserver(options: DeadlineReportOptions = {}): TrajectoryObserver {
  const thresholdMs = warningThresholdMs(options);
  return {
    name: 'Deadline',
    defaultTrigger: { everyNSeconds: 30 },
    shouldRun: (_session, context) => context.deadline !== undefined,
    observe: (_session, context) => deadlineReport(context, thresholdMs),
  };
}
