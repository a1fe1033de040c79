import type { DecisionPoint } from '../records/guidance.ts';
import type { FeedbackProviderConfig } from '../steering/prompt/feedback-provider.ts';
import type { GuidanceContext, GuidanceProviderConfig } from '../steering/prompt/guidance-provider.ts';

/** The words by which the contract finds feedback after the so-many-th call in a request. */
export function feedbackMark(call: number): string {
  return `COX-FEEDBACK-${call}.`;
}

/** Feedback after every call, with the number of the call in it. */
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

/** The words by which the contract finds guidance at a decision point in a request. */
export function guidanceMark(point: DecisionPoint): string {
  return `COX-GUIDANCE-${point}.`;
}

/**
 * Guidance at one decision point.
 *
 * @param when  said where this holds; once a run
 */
export function guidanceAt(point: DecisionPoint, when: (context: GuidanceContext) => boolean): GuidanceProviderConfig {
  return { ...guidanceAlwaysAt(point, when), maxPerRun: 1 };
}

/** The same, said as often as the point is reached. */
export function guidanceAlwaysAt(
  point: DecisionPoint,
  when: (context: GuidanceContext) => boolean = () => true,
): GuidanceProviderConfig {
  return {
    provider: {
      name: `Contract ${point}`,
      category: 'contract',
      decisionPoints: [point],
      classify: (context) => ({ relevant: when(context), confidence: 1 }),
      provide: () => ({ key: 'contract', content: `${guidanceMark(point)} Think of it.` }),
    },
  };
}
