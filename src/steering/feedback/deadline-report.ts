import { amount, type ShapesOf } from '../../base/shape.ts';
import { durationText } from '../../base/number-text.ts';
import { remainingMs } from '../../base/deadline.ts';
import type { FeedbackContext } from '../prompt/feedback-context.ts';
import type { FeedbackDraft } from '../prompt/feedback-provider.ts';

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
