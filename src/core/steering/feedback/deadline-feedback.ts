import { amount, choice, type ShapesOf } from '../../base/shape.ts';
import { durationText } from '../../base/number-text.ts';
import { remainingMs } from '../../base/deadline.ts';
import type { FeedbackContext } from '../prompt/feedback-context.ts';
import type { FeedbackDraft, FeedbackProvider } from '../prompt/feedback-provider.ts';
import { defineProvider, type ProviderDefinition } from '../prompt/define-provider.ts';
import type { TrajectoryObserver } from '../prompt/trajectory-observer.ts';

/** Options of `deadlineObserver`. */
export interface DeadlineReportOptions {
  /** The remaining time in seconds below which the feedback warns and suggests finishing; default 120. */
  readonly warningThresholdSeconds?: number;
}

const DEADLINE_REPORT: ShapesOf<DeadlineReportOptions> = {
  warningThresholdSeconds: amount(0, 31_536_000, 120),
};

function createDraft(
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
  // The text never shows milliseconds.
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
   * When feedback is given. `trigger` (default): whenever the trigger fires. `halving`: the first time, after the deadline
   * changed, each time the remaining time has halved, when the warning begins, and whenever the trigger fires after the
   * deadline. With 45 minutes, that is 7 times instead of 90.
   */
  readonly spacing?: DeadlineSpacing | undefined;
}

/** See `DeadlineFeedbackOptions`. */
export type DeadlineSpacing = 'trigger' | 'halving';

/**
 * States the time left until the deadline. Without a deadline it gives no feedback. Default trigger: every 30 seconds.
 *
 * @throws CoxswainError "invalid-definition" if the threshold is negative or not a number
 */
export const deadlineFeedback: ProviderDefinition<DeadlineFeedbackOptions, FeedbackProvider> = defineProvider(
  { ...DEADLINE_REPORT, spacing: choice<DeadlineSpacing>({ trigger: true, halving: true }) },
  (options): FeedbackProvider => {
    const isHalving = options.spacing === 'halving';
    return {
      name: 'Deadline',
      defaultTrigger: { everyNSeconds: 30 },
      shouldRun: (context) =>
        context.deadline !== undefined &&
        (!isHalving || hasChangedEnough(context, 1_000 * options.warningThresholdSeconds)),
      provide: (context) => createDraft(context, options),
    };
  },
);

/** Returns true if the remaining time has changed enough since the last feedback. */
function hasChangedEnough({ deadline, nowMs, lastOwnFeedback }: FeedbackContext, thresholdMs: number): boolean {
  if (deadline === undefined || lastOwnFeedback === undefined) return true;
  if (deadline.setAtMs !== undefined && deadline.setAtMs > lastOwnFeedback.atMs) return true;
  const leftMs = remainingMs(deadline, nowMs);
  const leftMsBefore = remainingMs(deadline, lastOwnFeedback.atMs);
  return leftMs <= leftMsBefore / 2 || (leftMs <= thresholdMs && leftMsBefore > thresholdMs);
}

/**
 * An observer with the same texts as `deadlineFeedback`. Default trigger: every 30 seconds.
 *
 * @throws CoxswainError "invalid-definition" if the threshold is negative or not a number
 */
export const deadlineObserver: ProviderDefinition<DeadlineReportOptions, TrajectoryObserver> = defineProvider(
  DEADLINE_REPORT,
  (options): TrajectoryObserver => ({
    name: 'Deadline',
    defaultTrigger: { everyNSeconds: 30 },
    shouldRun: (_session, context) => context.deadline !== undefined,
    observe: (_session, context) => createDraft(context, options),
  }),
);
