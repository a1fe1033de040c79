import { remainingMs } from '../../base/deadline.ts';
import type { FeedbackContext } from '../prompt/feedback-context.ts';
import type { FeedbackProvider } from '../prompt/feedback-provider.ts';
import { DEADLINE_REPORT, deadlineReport, type DeadlineReportOptions } from './deadline-report.ts';
import { choice } from '../../base/shape.ts';
import { defineProvider, type ProviderDefinition } from '../prompt/define-provider.ts';

/** Options of `deadlineFeedback`. */
export interface DeadlineFeedbackOptions extends DeadlineReportOptions {
  /**
   * How often it speaks. `trigger` (default): whenever its trigger fires. `halving`: at first and after the deadline was set anew, when half of the time that
   * was left at the last time is gone, when the warning begins, and from the deadline on whenever its trigger fires; with
   * 45 minutes that is seven times instead of ninety.
   */
  readonly spacing?: DeadlineSpacing | undefined;
}

/** See `DeadlineFeedbackOptions`. */
export type DeadlineSpacing = 'trigger' | 'halving';

/**
 * Says how much time is left until the deadline. Silent without a deadline. Default trigger: every 30 seconds.
 *
 * @throws CoxswainError "invalid-definition" when the threshold is not a number from 0
 */
export const deadlineFeedback: ProviderDefinition<DeadlineFeedbackOptions, FeedbackProvider> = defineProvider<
  DeadlineFeedbackOptions,
  FeedbackProvider
>(
  { ...DEADLINE_REPORT, spacing: choice<DeadlineSpacing>({ trigger: true, halving: true }) },
  (options): FeedbackProvider => {
    const halves = options.spacing === 'halving';
    return {
      name: 'Deadline',
      defaultTrigger: { everyNSeconds: 30 },
      shouldRun: (context) =>
        context.deadline !== undefined && (!halves || isNews(context, 1_000 * options.warningThresholdSeconds)),
      provide: (context) => deadlineReport(context, options),
    };
  },
);

/** Whether the time left is another one than when it was last said. */
function isNews({ deadline, nowMs, lastOwnFeedback }: FeedbackContext, thresholdMs: number): boolean {
  if (deadline === undefined || lastOwnFeedback === undefined) return true;
  if (deadline.setAtMs !== undefined && deadline.setAtMs > lastOwnFeedback.atMs) return true;
  const leftMs = remainingMs(deadline, nowMs);
  const leftThenMs = remainingMs(deadline, lastOwnFeedback.atMs);
  return leftMs <= leftThenMs / 2 || (leftMs <= thresholdMs && leftThenMs > thresholdMs);
}
