import { amount, choice, type ShapesOf } from '../../base/shape.ts';
import { durationText } from '../../base/number-text.ts';
import { remainingMs } from '../../base/deadline.ts';
import type { FeedbackContext } from '../prompt/feedback-context.ts';
import type { FeedbackDraft, FeedbackProvider } from '../prompt/feedback-provider.ts';
import { defineProvider, type ProviderDefinition } from '../prompt/define-provider.ts';
import type { TrajectoryObserver } from '../prompt/trajectory-observer.ts';

/** Options of `deadlineObserver`. */
export interface DeadlineReportOptions {
  /** With so much time left or less it warns, and suggests to wrap up; default 120. */
  readonly warningThresholdSeconds?: number;
}

/** The shapes of these options. */
export const DEADLINE_REPORT: ShapesOf<DeadlineReportOptions> = {
  warningThresholdSeconds: amount(0, 31_536_000, 120),
};

/** What there is to say about the time left. */
export function deadlineReport(
  { deadline, nowMs }: FeedbackContext,
  { warningThresholdSeconds }: Required<DeadlineReportOptions>,
): FeedbackDraft {
  if (deadline === undefined) return { summary: 'No deadline configured.' };
  const leftMs = remainingMs(deadline, nowMs);
  if (leftMs <= 0) {
    return {
      summary: 'You have reached the time deadline.',
      suggestions: ['Wrap up immediately.'],
      severity: 'warning',
    };
  }
  // An agent reads seconds, also below the first.
  const summary = `You have ${leftMs < 1_000 ? '0 seconds' : durationText(leftMs)} remaining.`;
  if (leftMs > 1_000 * warningThresholdSeconds) return { summary };
  return {
    summary,
    suggestions: [
      'Prioritize completing critical remaining work.',
      'Consider summarizing progress and remaining tasks.',
    ],
    severity: 'warning',
  };
}

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
export const deadlineFeedback: ProviderDefinition<DeadlineFeedbackOptions, FeedbackProvider> = defineProvider(
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

/**
 * The observer that says what `deadlineFeedback` says. Default trigger: every 30 seconds.
 *
 * @throws CoxswainError "invalid-definition" when the threshold is not a number from 0
 */
export const deadlineObserver: ProviderDefinition<DeadlineReportOptions, TrajectoryObserver> = defineProvider(
  DEADLINE_REPORT,
  (options): TrajectoryObserver => ({
    name: 'Deadline',
    defaultTrigger: { everyNSeconds: 30 },
    shouldRun: (_session, context) => context.deadline !== undefined,
    observe: (_session, context) => deadlineReport(context, options),
  }),
);
