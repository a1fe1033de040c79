import { type Budget, BUDGET_PARTS, budgetRemaining } from '../../base/budget.ts';
import { remainingMs } from '../../base/deadline.ts';
import type { Severity } from '../../records/feedback.ts';
import type { FeedbackContext } from '../prompt/feedback-context.ts';
import type { FeedbackDraft, FeedbackProvider } from '../prompt/feedback-provider.ts';
import { ToolInvoked } from '../../session/tool-invoked.ts';
import { whole } from '../../base/shape.ts';
import { defineProvider, type ProviderDefinition } from '../prompt/define-provider.ts';

/** Options of `paceFeedback`. */
export interface PaceFeedbackOptions {
  /** Speaks once something lasts for so many more tool calls or fewer; a whole number from 0, default 20. */
  readonly speakAtCallsLeft?: number;
  /** Warns at so many or fewer; a whole number from 0, default 5. */
  readonly warnAtCallsLeft?: number;
  /** Tool calls before it estimates a rate; a whole number from 2 to 1,000, default 5. */
  readonly minCalls?: number;
  /** Tool calls over which the time a call takes is measured; a whole number from 2 to 1,000, default 20. */
  readonly window?: number;
}

/** How long one limited thing lasts. */
interface Projection {
  readonly what: string;
  readonly callsLeft: number;
  readonly evidence: string;
}

const WORDS: Readonly<Record<keyof Budget, string>> = {
  calls: 'call budget',
  tokens: 'token budget',
  costUsd: 'cost budget',
};

/**
 * Says how many more tool calls the budget and the time allow at the rate so far: tokens and cost by their mean a
 * call, time by the mean of the last calls. Silent while all of it lasts longer than `speakAtCallsLeft`, and where
 * neither a deadline nor a budget with known usage is set. `usage.calls` defaults to the calls of this prompt. Default
 * trigger: every 5 calls.
 *
 * @throws CoxswainError "invalid-definition" when an option is out of range
 */
export const paceFeedback: ProviderDefinition<PaceFeedbackOptions, FeedbackProvider> = defineProvider(
  {
    speakAtCallsLeft: whole(0, 1_000_000, 20),
    warnAtCallsLeft: whole(0, 1_000_000, 5),
    minCalls: whole(2, ToolInvoked.retain, 5),
    window: whole(2, ToolInvoked.retain, 20),
  },
  ({ speakAtCallsLeft, warnAtCallsLeft, minCalls, window }): FeedbackProvider => {
    const short = (context: FeedbackContext): readonly Projection[] =>
      context.toolCallCount < minCalls
        ? []
        : [...budgetProjections(context), ...timeProjection(context, window)]
            .filter((projection) => projection.callsLeft <= speakAtCallsLeft)
            .sort((a, b) => a.callsLeft - b.callsLeft);
    return {
      name: 'Pace',
      defaultTrigger: { everyNCalls: 5 },
      shouldRun: (context) => short(context).length > 0,
      provide: (context) => report(short(context), warnAtCallsLeft),
    };
  },
);

function budgetProjections({ budget, usage, toolCallCount }: FeedbackContext): readonly Projection[] {
  if (budget === undefined) return [];
  const used = { calls: toolCallCount, ...usage };
  const remaining = budgetRemaining(budget, used);
  return BUDGET_PARTS.flatMap((part) => {
    const left = remaining[part];
    const soFar = used[part];
    if (left === undefined || soFar === undefined) return [];
    // Nothing used yet: no rate, unless nothing is left either.
    if (soFar <= 0 && left > 0) return [];
    const callsLeft = left === 0 ? 0 : Math.floor(part === 'calls' ? left : (left * used.calls) / soFar);
    return [{ what: WORDS[part], callsLeft, evidence: `${soFar} of ${budget[part]} used in ${used.calls} tool calls` }];
  });
}

function timeProjection(context: FeedbackContext, window: number): readonly Projection[] {
  const { deadline, nowMs } = context;
  const recent = context.recentToolCalls(window);
  const first = recent[0];
  const last = recent.at(-1);
  if (deadline === undefined || first === undefined || last === undefined) return [];
  const leftMs = Math.max(0, remainingMs(deadline, nowMs));
  const callMs = (last.atMs - first.atMs) / (recent.length - 1);
  if (!(callMs > 0)) return [];
  const evidence = `a tool call every ${Math.round(callMs)} ms over the last ${recent.length}, ${leftMs} ms left`;
  return [{ what: 'time', callsLeft: Math.floor(leftMs / callMs), evidence }];
}

function report(projections: readonly Projection[], warnAtCallsLeft: number): FeedbackDraft {
  const tightest = projections[0];
  if (tightest === undefined) return { summary: 'Budget and time will last at this rate.' };
  return {
    summary: sentence(tightest),
    severity: severityOf(tightest.callsLeft, warnAtCallsLeft),
    // The summary says the tightest.
    observations: projections.slice(1).map((projection) => ({
      category: 'pace',
      description: sentence(projection),
      evidence: projection.evidence,
    })),
    suggestions:
      tightest.callsLeft === 0
        ? ['Wrap up immediately.']
        : ['Finish the most important remaining work first.', 'Leave room to summarize what is done and what is not.'],
  };
}

function sentence({ what, callsLeft }: Projection): string {
  if (callsLeft === 0) return `At this rate the ${what} does not last for another tool call.`;
  return `At this rate the ${what} lasts for about ${callsLeft} more tool call${callsLeft === 1 ? '' : 's'}.`;
}

function severityOf(callsLeft: number, warnAtCallsLeft: number): Severity {
  return callsLeft <= warnAtCallsLeft ? 'warning' : 'caution';
}
