import type { FeedbackProvider } from '../prompt/feedback-provider.ts';
import { whole } from '../../base/shape.ts';
import { defineProvider, type ProviderDefinition } from '../prompt/define-provider.ts';

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
