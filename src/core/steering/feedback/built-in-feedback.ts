import { amount, choice, list, type ShapesOf, text, whole } from '../../base/shape.ts';
import { countOf, durationText, countText, periodText } from '../../base/number-text.ts';
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
import { type Budget, BUDGET_PARTS, budgetRemaining } from '../../base/budget.ts';
import { present } from '../../base/json.ts';
import { LIMIT_AHEAD_PERCENT, type LimitUsed } from '../../facts/limit-used.ts';
import { ToolInvoked } from '../../session/tool-invoked.ts';

export interface ContextFeedbackOptions {
  /** Gives feedback at this share of the model's window; a number from 0 to 1, default 0.75. */
  readonly speakAtShare?: number;
  /** Warns at this share or more; a number from 0 to 1, default 0.9. */
  readonly warnAtShare?: number;
}

/**
 * States how full the model's context is, once when it reaches each of two shares, and again after a compaction. It says nothing while
 * the window of the model is unknown. Default trigger: every call.
 *
 * @throws CoxswainError "invalid-definition" if an option is out of range
 */
export const contextFeedback: ProviderDefinition<ContextFeedbackOptions, FeedbackProvider> = defineProvider(
  { speakAtShare: amount(0, 1, 0.75), warnAtShare: amount(0, 1, 0.9) },
  ({ speakAtShare, warnAtShare }): FeedbackProvider => ({
    name: 'Context',
    defaultTrigger: { everyNCalls: 1 },
    shouldRun: ({ context, lastOwnFeedback: last }) => {
      const share = context?.share ?? 0;
      if (share < speakAtShare) return false;
      // A context that shrank was compacted: what was said about the fuller one does not count.
      const saidShare = last === undefined ? 0 : Number(/ (\d+) % full/.exec(last.summary)?.[1] ?? 0) / 100;
      return saidShare < speakAtShare || saidShare > share || (share >= warnAtShare && saidShare < warnAtShare);
    },
    provide: ({ context }: FeedbackContext) => {
      const { share = 0, tokens = 0, window = 0 } = context ?? {};
      return {
        summary: `Your context is ${Math.floor(share * 100)} % full: ${countText(tokens)} of ${countText(window)} tokens.`,
        severity: share >= warnAtShare ? 'warning' : 'caution',
        suggestions: [
          'Write down the plan, the open points and the names of the files now, where you find them after a compaction.',
          'Read only the parts of files that you need.',
        ],
      };
    },
  }),
);

export interface AfterCompactionOptions {
  /** Your own sentences that the agent shall still follow, at most ten with at most 150 characters each. Default: none. */
  readonly reminders?: readonly string[];
}

/**
 * Repeats your own reminders once after each compaction of the context, and asks the agent to read its task list again. It quotes nothing of
 * the run. Default trigger: every call.
 *
 * @throws CoxswainError "invalid-definition" if an option is out of range
 */
export const afterCompaction: ProviderDefinition<AfterCompactionOptions, FeedbackProvider> = defineProvider(
  { reminders: list(text('a text of 1 to 150 characters', { maxChars: 150, pattern: () => /[^\s\p{C}]/u }), 10) },
  ({ reminders }): FeedbackProvider => ({
    name: 'AfterCompaction',
    defaultTrigger: { everyNCalls: 1 },
    shouldRun: ({ lastOwnFeedback: last, trajectory }) =>
      (trajectory?.compactions ?? 0) > Number(/ (\d+) time/.exec(last?.summary ?? '')?.[1] ?? 0),
    provide: ({ trajectory }) => ({
      summary: `Your context was compacted ${countOf(trajectory?.compactions ?? 0, 'time')} in this run.`,
      // An option without a default may be absent.
      suggestions: [...((reminders as readonly string[] | undefined) ?? []), READ_AGAIN],
    }),
  }),
);

export interface LimitAheadOptions {
  /** Gives feedback if this share of a limit is used; a number from 50 to 100, default 90. */
  readonly speakAtPercent?: number;
}

/**
 * States once that a limit of the model's provider is nearly used, and when it resets. Codex and the Claude Agent SDK report limits; without
 * a report it says nothing. Default trigger: every call.
 *
 * @throws CoxswainError "invalid-definition" if an option is out of range
 */
export const limitAhead: ProviderDefinition<LimitAheadOptions, FeedbackProvider> = defineProvider(
  { speakAtPercent: amount(50, 100, LIMIT_AHEAD_PERCENT) },
  ({ speakAtPercent }): FeedbackProvider => {
    const nearLimits = ({ limits = [], nowMs }: FeedbackContext): readonly LimitUsed[] =>
      limits.filter(({ resetsAtMs = Infinity, usedPercent }) => usedPercent >= speakAtPercent && resetsAtMs > nowMs);
    return {
      name: 'LimitAhead',
      defaultTrigger: { everyNCalls: 1 },
      shouldRun: (context) => nearLimits(context).some((limit) => !isSaid(limit, context)),
      provide: (context) => ({
        summary: nearLimits(context)
          .map((limit) => limitSentence(limit, context.nowMs))
          .join(' '),
        severity: 'caution',
        suggestions: [
          'Finish or save the most important work first.',
          'Write down what is done and what is open, where you find it after the limit has reset.',
        ],
      }),
    };
  },
);

function limitSentence({ resetsAtMs, usedPercent, windowMinutes }: LimitUsed, nowMs: number): string {
  const resets =
    resetsAtMs === undefined
      ? ''
      : `; it resets in ${periodText(resetsAtMs - nowMs)}, at ${new Date(resetsAtMs).toISOString().slice(0, 16)}Z`;
  return `${Math.floor(usedPercent)} % of ${limitName(windowMinutes)} is used${resets}.`;
}

function limitName(windowMinutes: number): string {
  return `your model's usage limit of ${periodText(windowMinutes * 60_000)}`;
}

/** It was said in the window that has not ended. */
function isSaid({ resetsAtMs, windowMinutes }: LimitUsed, { lastOwnFeedback: last, nowMs }: FeedbackContext): boolean {
  if (last === undefined || !last.summary.includes(limitName(windowMinutes))) return false;
  return last.atMs > (resetsAtMs ?? nowMs) - windowMinutes * 60_000;
}

const READ_AGAIN = 'Read your task list and your notes again before you go on.';

export interface PaceFeedbackOptions {
  /** Gives feedback if a limit allows at most this many more tool calls; a whole number from 0, default 20. */
  readonly speakAtCallsLeft?: number;
  /** Warns at this number or fewer; a whole number from 0, default 5. */
  readonly warnAtCallsLeft?: number;
  /** Minimum tool calls for an estimate; a whole number from 2 to 1,000, default 5. */
  readonly minCalls?: number;
  /** Tool calls over which the time per call is averaged; a whole number from 2 to 1,000, default 20. */
  readonly window?: number;
}

interface Projection {
  readonly resource: string;
  readonly callsLeft: number;
  readonly evidence: string;
  /** True if nothing is left, so no rate is needed. */
  readonly isUsedUp?: boolean;
  readonly total?: number;
}

/** Calls between two words about a limit that is used up. */
const CALLS_BETWEEN = 10;

const RESOURCE_NAMES: Readonly<Record<keyof Budget, string>> = {
  calls: 'call budget',
  tokens: 'token budget',
  costUsd: 'cost budget',
};

/**
 * Estimates how many more tool calls the budget and the deadline allow. Tokens and cost are estimated by their mean per
 * call, time by the mean of the last calls, of `minCalls` calls or of as many as are left. It speaks when a limit allows at most `speakAtCallsLeft` more calls (a budget of
 * calls: at most half of it), again at `warnAtCallsLeft`, at none, and then every ten calls. It says nothing without a
 * deadline or a budget with known usage. `usage.calls` defaults to the calls of this prompt.
 * Default trigger: every call.
 *
 * @throws CoxswainError "invalid-definition" if an option is out of range
 */
export const paceFeedback: ProviderDefinition<PaceFeedbackOptions, FeedbackProvider> = defineProvider(
  {
    speakAtCallsLeft: whole(0, 1_000_000, 20),
    warnAtCallsLeft: whole(0, 1_000_000, 5),
    minCalls: whole(2, ToolInvoked.retain, 5),
    window: whole(2, ToolInvoked.retain, 20),
  },
  ({ speakAtCallsLeft, warnAtCallsLeft, minCalls, window }): FeedbackProvider => {
    const shortProjections = (context: FeedbackContext): readonly Projection[] =>
      [...budgetProjections(context), ...timeProjection(context, window)]
        // A rate of few calls tells about no more calls than it was measured on.
        .filter(
          ({ callsLeft, total }) =>
            total !== undefined || context.toolCallCount >= Math.min(minCalls, Math.max(2, callsLeft)),
        )
        .filter(({ callsLeft }) => callsLeft <= speakAtCallsLeft)
        .sort((a, b) => a.callsLeft - b.callsLeft);
    /** True if the tightest limit has passed a threshold since the last words about it. */
    const isNews = ({ lastOwnFeedback: last, toolCallCount }: FeedbackContext, tightest: Projection): boolean => {
      if (last === undefined) return true;
      if (tightest.callsLeft > 0) return tightest.callsLeft <= warnAtCallsLeft && last.severity !== 'warning';
      return last.summary !== describe(tightest) || toolCallCount - last.callIndex >= CALLS_BETWEEN;
    };
    return {
      name: 'Pace',
      defaultTrigger: { everyNCalls: 1 },
      shouldRun: (context) => {
        const [tightest] = shortProjections(context);
        if (tightest === undefined) return false;
        const { callsLeft, total = Infinity } = tightest;
        return callsLeft <= total / 2 && isNews(context, tightest);
      },
      provide: (context) => createPaceDraft(shortProjections(context), warnAtCallsLeft),
    };
  },
);

function budgetProjections({ budget, usage, toolCallCount }: FeedbackContext): readonly Projection[] {
  if (budget === undefined) return [];
  const usedAmounts = { calls: toolCallCount, ...usage };
  const remaining = budgetRemaining(budget, usedAmounts);
  return BUDGET_PARTS.flatMap((key) => {
    const remainingAmount = remaining[key];
    const spent = usedAmounts[key];
    if (remainingAmount === undefined || spent === undefined) return [];
    // Without usage there is no rate. If nothing is left of the budget, no rate is needed.
    if (spent <= 0 && remainingAmount > 0) return [];
    const isUsedUp = remainingAmount === 0;
    const callsAhead = key === 'calls' ? remainingAmount : (remainingAmount * usedAmounts.calls) / spent;
    const callsLeft = isUsedUp ? 0 : Math.floor(callsAhead + ROUNDING_CALLS);
    const evidence = `${Number(spent.toPrecision(9))} of ${budget[key]} used in ${usedAmounts.calls} tool calls`;
    const total = key === 'calls' ? budget[key] : undefined;
    return [{ resource: RESOURCE_NAMES[key], callsLeft, evidence, isUsedUp, ...present({ total }) }];
  });
}

/** Sums of costs have errors in their last digits. */
const ROUNDING_CALLS = 1e-6;

function timeProjection(context: FeedbackContext, window: number): readonly Projection[] {
  const { deadline, nowMs } = context;
  if (deadline === undefined) return [];
  const recent = context.recentToolCalls(window);
  const firstCall = recent[0];
  const lastCall = recent.at(-1);
  if (firstCall === undefined || lastCall === undefined) return [];
  const leftMs = Math.max(0, remainingMs(deadline, nowMs));
  const callMs = (lastCall.atMs - firstCall.atMs) / (recent.length - 1);
  if (!(callMs > 0)) return [];
  const evidence = `a tool call every ${Math.round(callMs)} ms over the last ${recent.length}, ${leftMs} ms left`;
  return [{ resource: 'time', callsLeft: Math.floor(leftMs / callMs), evidence }];
}

function createPaceDraft(projections: readonly Projection[], warnAtCallsLeft: number): FeedbackDraft {
  const tightest = projections[0];
  if (tightest === undefined) return { summary: 'Budget and time will last at this rate.' };
  return {
    summary: describe(tightest),
    severity: tightest.callsLeft <= warnAtCallsLeft ? 'warning' : 'caution',
    // The summary contains the tightest limit.
    observations: projections.slice(tightest.isUsedUp === true ? 0 : 1).map((projection) => ({
      category: 'pace',
      description: projection.isUsedUp === true ? `${projection.evidence}.` : describe(projection),
      evidence: projection.evidence,
    })),
    suggestions:
      tightest.callsLeft === 0
        ? ['Wrap up immediately.']
        : ['Finish the most important remaining work first.', 'Leave room to summarize what is done and what is not.'],
  };
}

function describe({ resource, callsLeft, isUsedUp }: Projection): string {
  if (isUsedUp === true) return `The ${resource} is used up.`;
  if (callsLeft === 0) return `At this rate the ${resource} does not last for another tool call.`;
  return `At this rate the ${resource} lasts for about ${callsLeft} more tool call${callsLeft === 1 ? '' : 's'}.`;
}

export interface ToolUsageMonitorOptions {
  /** Number of tool calls above which the feedback asks for a review; a whole number from 0, default 20. */
  readonly maxCallsWithoutProgress?: number;
}

/** States the number of calls, and asks for a review above a limit. Needs a trigger. Throws CoxswainError "invalid-definition". */
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

export interface DeadlineFeedbackOptions extends DeadlineReportOptions {
  /**
   * When feedback is given. `trigger` (default): whenever the trigger fires. `halving`: the first time, after the deadline
   * changed, each time the remaining time has halved, when the warning begins, and whenever the trigger fires after the
   * deadline. With 45 minutes, that is 7 times instead of 90.
   */
  readonly spacing?: DeadlineSpacing | undefined;
}

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

function hasChangedEnough({ deadline, nowMs, lastOwnFeedback }: FeedbackContext, thresholdMs: number): boolean {
  if (deadline === undefined || lastOwnFeedback === undefined) return true;
  if (deadline.setAtMs !== undefined && deadline.setAtMs > lastOwnFeedback.atMs) return true;
  const leftMs = remainingMs(deadline, nowMs);
  const leftMsBefore = remainingMs(deadline, lastOwnFeedback.atMs);
  return leftMs <= leftMsBefore / 2 || (leftMs <= thresholdMs && leftMsBefore > thresholdMs);
}

/** The texts of `deadlineFeedback`. Default trigger: every 30 seconds. Throws CoxswainError "invalid-definition". */
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
