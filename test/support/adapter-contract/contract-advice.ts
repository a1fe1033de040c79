import type { DecisionPoint } from '../../../src/core/records/spoken-advice.ts';
import type { FeedbackProviderConfig } from '../../../src/core/steering/prompt/feedback-provider.ts';
import type { GuidanceContext, GuidanceProviderConfig } from '../../../src/core/steering/prompt/guidance-provider.ts';

/** Returns the text that identifies the feedback after a call in a request. Calls are counted from 1. */
export function feedbackMark(call: number): string {
  return `COX-FEEDBACK-${call}.`;
}

/** Returns a provider that produces feedback with the call number after every call. */
export function feedbackAfterEachCall(name = 'Contract'): FeedbackProviderConfig {
  return {
    provider: {
      name,
      shouldRun: () => true,
      provide: ({ toolCallCount }) => ({ summary: feedbackMark(toolCallCount) }),
    },
    trigger: { everyNCalls: 1 },
  };
}

/** Returns the text that identifies the guidance of a decision point in a request. */
export function guidanceMark(point: DecisionPoint): string {
  return `COX-GUIDANCE-${point}.`;
}

/**
 * Returns a provider of guidance at one decision point, at most once per run.
 *
 * @param isDue  returns true for the contexts in which the guidance is produced
 */
export function guidanceAt(point: DecisionPoint, isDue: (context: GuidanceContext) => boolean): GuidanceProviderConfig {
  return { ...guidanceAlwaysAt(point, isDue), maxPerRun: 1 };
}

/** Returns the same provider without the limit of one per run. */
export function guidanceAlwaysAt(
  point: DecisionPoint,
  isDue: (context: GuidanceContext) => boolean = () => true,
): GuidanceProviderConfig {
  return {
    provider: {
      name: `Contract ${point}`,
      category: 'contract',
      decisionPoints: [point],
      classify: (context) => ({ relevant: isDue(context), confidence: 1 }),
      provide: () => ({ key: 'contract', content: `${guidanceMark(point)} Think of it.` }),
    },
  };
}
