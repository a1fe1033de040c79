import { remainingMs } from '../../base/deadline.ts';
import type { FeedbackContext } from '../prompt/feedback-context.ts';
import type { FeedbackProvider } from '../prompt/feedback-provider.ts';
import { deadlineReport, warningThresholdMs } from './deadline-report.ts';
import type { DeadlineReportOptions } from './deadline-report.ts';
import { amount, choice } from '../../base/shape.ts';
import { defineProvider, type FeedbackDefinition } from './define-provider.ts';

/** Options of `deadlineFeedback`. */
export interface DeadlineFeedbackOptions extends DeadlineReportOptions {
  /**
   * How often it speaks. `trigger` (default): whenever its trigger fires. `halving`: at first and after the deadline was set anew, when half of the time that
   * was left at the last time is gone, when the warning begins, and from the deadline on whenever its trigger fires; with
   * 45 minutes that is seven times instead of ninety.
   */
  readonly spacing?: DeadlineSpacing;
}

/** See `DeadlineFeedbackOptions`. */
export type DeadlineSpacing = 'trigger' | 'halving';

/**
 * Says how much time is left until the deadline. Silent without a deadline. Default trigger: every 30 seconds.
 *
 * @throws CoxswainError "invalid-definition" when the threshold is not a number from 0
 */
export function deadlineFeedback(options: DeadlineFeedbackOptions = {}): FeedbackProvider {
  const thresholdMs = warningThresholdMs(options);
  const halves = options.spacing === 'halving';
  return {
    name: 'Deadline',
    defaultTrigger: { everyNSeconds: 30 },
    shouldRun: (context) => context.deadline !== undefined && (!halves || isNews(context, thresholdMs)),
    provide: (context) => deadlineReport(context, thresholdMs),
  };
}

/** Whether the time left is another one than when it was last said. */
function isNews({ deadline, nowMs, lastOwnFeedback }: FeedbackContext, thresholdMs: number): boolean {
  if (deadline === undefined || lastOwnFeedback === undefined) return true;
  if (deadline.setAtMs !== undefined && deadline.setAtMs > lastOwnFeedback.atMs) return true;
  const leftMs = remainingMs(deadline, nowMs);
  const leftThenMs = remainingMs(deadline, lastOwnFeedback.atMs);
  return leftMs <= leftThenMs / 2 || (leftMs <= thresholdMs && leftThenMs > thresholdMs);
}

export const deadline: FeedbackDefinition<DeadlineFeedbackOptions> = defineProvider<DeadlineFeedbackOptions>(
  {
    warningThresholdSeconds: amount(0, 31_536_000, 120),
    spacing: choice<DeadlineSpacing>({ trigger: true, halving: true }),
  },
  deadlineFeedback,
);
