import { CoxswainError } from '../../base/error.ts';
import { durationText } from '../../base/duration-text.ts';
import { remainingMs } from '../../base/deadline.ts';
import type { FeedbackContext } from '../prompt/feedback-context.ts';
import type { FeedbackDraft } from '../prompt/feedback-provider.ts';

/** Options of `deadlineObserver`. */
export interface DeadlineReportOptions {
  /** With so much time left or less it warns, and suggests to wrap up; default 120. */
  readonly warningThresholdSeconds?: number;
}

/** @throws CoxswainError "invalid-definition" when the threshold is not a number from 0 */
export function warningThresholdMs({ warningThresholdSeconds = 120 }: DeadlineReportOptions): number {
  if (Number.isFinite(warningThresholdSeconds) && warningThresholdSeconds >= 0) return warningThresholdSeconds * 1_000;
  throw new CoxswainError(
    'invalid-definition',
    `warningThresholdSeconds must be a number from 0, got ${warningThresholdSeconds}`,
    { details: { warningThresholdSeconds } },
  );
}

/** What there is to say about the time left. */
export function deadlineReport({ deadline, nowMs }: FeedbackContext, thresholdMs: number): FeedbackDraft {
  if (deadline === undefined) return { summary: 'No deadline configured.' };
  const leftMs = remainingMs(deadline, nowMs);
  if (leftMs <= 0) {
    return {
      summary: 'You have reached the time deadline.',
      suggestions: ['Wrap up immediately.'],
      severity: 'warning',
    };
  }
  const summary = `You have ${durationText(leftMs)} remaining.`;
  if (leftMs > thresholdMs) return { summary };
  return {
    summary,
    suggestions: [
      'Prioritize completing critical remaining work.',
      'Consider summarizing progress and remaining tasks.',
    ],
    severity: 'warning',
  };
}
