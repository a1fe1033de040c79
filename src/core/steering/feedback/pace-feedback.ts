import { type Budget, BUDGET_PARTS, budgetRemaining } from '../../base/budget.ts';
import { present } from '../../base/json.ts';
import { remainingMs } from '../../base/deadline.ts';
import type { FeedbackContext, FeedbackDraft, FeedbackProvider } from '../prompt/feedback-provider.ts';
import { ToolInvoked } from '../../session/tool-invoked.ts';
import { whole } from '../../base/shape.ts';
import { defineProvider, type ProviderDefinition } from '../prompt/define-provider.ts';

/** Options of `paceFeedback`. */
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

/** The estimate of how long one limited resource lasts. */
interface Projection {
  readonly resource: string;
  readonly callsLeft: number;
  readonly evidence: string;
  /** The whole budget, if it is counted in calls. */
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
 * call, time by the mean of the last calls. It speaks when a limit allows at most `speakAtCallsLeft` more calls (a budget of
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
        .filter(({ total }) => total !== undefined || context.toolCallCount >= minCalls)
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
      provide: (context) => createDraft(shortProjections(context), warnAtCallsLeft),
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
    const callsLeft =
      remainingAmount === 0
        ? 0
        : Math.floor(key === 'calls' ? remainingAmount : (remainingAmount * usedAmounts.calls) / spent);
    const evidence = `${spent} of ${budget[key]} used in ${usedAmounts.calls} tool calls`;
    const total = key === 'calls' ? budget[key] : undefined;
    return [{ resource: RESOURCE_NAMES[key], callsLeft, evidence, ...present({ total }) }];
  });
}

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

function createDraft(projections: readonly Projection[], warnAtCallsLeft: number): FeedbackDraft {
  const tightest = projections[0];
  if (tightest === undefined) return { summary: 'Budget and time will last at this rate.' };
  return {
    summary: describe(tightest),
    severity: tightest.callsLeft <= warnAtCallsLeft ? 'warning' : 'caution',
    // The summary contains the tightest limit.
    observations: projections.slice(1).map((projection) => ({
      category: 'pace',
      description: describe(projection),
      evidence: projection.evidence,
    })),
    suggestions:
      tightest.callsLeft === 0
        ? ['Wrap up immediately.']
        : ['Finish the most important remaining work first.', 'Leave room to summarize what is done and what is not.'],
  };
}

function describe({ resource, callsLeft }: Projection): string {
  if (callsLeft === 0) return `At this rate the ${resource} does not last for another tool call.`;
  return `At this rate the ${resource} lasts for about ${callsLeft} more tool call${callsLeft === 1 ? '' : 's'}.`;
}
