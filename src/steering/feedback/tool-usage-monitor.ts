import { CoxswainError } from '../../base/error.ts';
import type { FeedbackProvider } from '../prompt/feedback-provider.ts';
import { whole } from '../../base/shape.ts';
import { defineProvider, type FeedbackDefinition } from './define-provider.ts';

/** Options of `toolUsageMonitor`. */
export interface ToolUsageMonitorOptions {
  /** With more tool calls than this it asks for a review; a whole number from 0, default 20. */
  readonly maxCallsWithoutProgress?: number;
}

/**
 * Says how many tool calls were made, and asks for a review once they are many. Give it a trigger.
 *
 * @throws CoxswainError "invalid-definition" when the option is out of range
 */
export function toolUsageMonitor({ maxCallsWithoutProgress = 20 }: ToolUsageMonitorOptions = {}): FeedbackProvider {
  if (!Number.isInteger(maxCallsWithoutProgress) || maxCallsWithoutProgress < 0) {
    throw new CoxswainError(
      'invalid-definition',
      `maxCallsWithoutProgress must be a whole number from 0, got ${maxCallsWithoutProgress}`,
      { details: { maxCallsWithoutProgress } },
    );
  }
  return {
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
  };
}

export const usageMonitor: FeedbackDefinition<ToolUsageMonitorOptions> = defineProvider<ToolUsageMonitorOptions>(
  { maxCallsWithoutProgress: whole(0, 1_000_000, 20) },
  toolUsageMonitor,
);
