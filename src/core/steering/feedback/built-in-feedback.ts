import { amount, choice, type ShapesOf, whole } from '../../base/shape.ts';
import { durationText } from '../../base/number-text.ts';
import { remainingMs } from '../../base/deadline.ts';
import type {
  FeedbackContext,
  FeedbackDraft,
  FeedbackProvider,
  TrajectoryObserver,
} from '../prompt/feedback-provider.ts';
import { defineProvider, type ProviderDefinition } from '../prompt/define-provider.ts';
import { CoxswainError } from '../../base/error.ts';
import { checkDraft, type CheckedDraft, InvalidDraft } from './check-draft.ts';

/** Options of `toolUsageMonitor`. */
export interface ToolUsageMonitorOptions {
  /** Number of tool calls above which the feedback asks for a review; a whole number from 0, default 20. */
  readonly maxCallsWithoutProgress?: number;
}

/**
 * States the number of tool calls, and asks for a review above a limit. Needs a trigger.
 *
 * @throws CoxswainError "invalid-definition" if the option is out of range
 */
export const toolUsageMonitor: ProviderDefinition<ToolUsageMonitorOptions, FeedbackProvider> = defineProvider(
  { maxCallsWithoutProgress: whole(0, 1_000_000, 20) },
  ({ maxCallsWithoutProgress }): FeedbackProvider => ({
    name: 'ToolUsageMonitor',
    shouldRun: () => true,
    provide: ({ toolCallCount }) =>
      toolCallCount > maxCallsWithoutProgress
        ? {
            summary: `You have made ${toolCallCount} tool calls.`,
            suggestions: [
              "Review what you've accomplished so far.",
              "Check if you're making progress toward the goal.",
            ],
            severity: 'caution',
          }
        : { summary: `Progress check: ${toolCallCount} tool calls made.`, severity: 'info' },
  }),
);

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

export interface StaticFeedbackOptions extends FeedbackDraft {
  readonly name: string;
}

/**
 * Gives the same feedback each time its trigger fires, for example when a file was created.
 *
 * @throws CoxswainError "invalid-definition" if the draft is invalid: a text is empty, too long or of the wrong type
 */
export function staticFeedback({ name, ...draft }: StaticFeedbackOptions): FeedbackProvider {
  const validDraft = requireDraft(name, draft);
  return { name, shouldRun: () => true, provide: () => validDraft };
}

function requireDraft(name: string, draft: FeedbackDraft): CheckedDraft {
  try {
    return checkDraft(draft);
  } catch (cause) {
    if (!(cause instanceof InvalidDraft)) throw cause;
    throw new CoxswainError('invalid-definition', `staticFeedback ${JSON.stringify(name)}: ${cause.message}`, {
      details: { name },
      cause,
    });
  }
}
