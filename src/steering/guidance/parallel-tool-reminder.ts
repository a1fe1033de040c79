import { defineProvider, type ProviderDefinition } from '../prompt/define-provider.ts';
import type { GuidanceProvider } from '../prompt/guidance-provider.ts';
import { defineGuidance } from './define-guidance.ts';
import { sequentialWhenParallel } from './sequential-when-parallel.ts';

/** Options of `parallelToolReminder`. */
export interface ParallelToolReminderOptions {
  /** Turns in a row with one independent call each from which it speaks, 2 to 16; default 3. */
  readonly sequentialThreshold?: number;
}

/**
 * Reminds the agent that it may issue calls together:
 * `Multiple independent operations detected. Consider executing tools in parallel for efficiency.`
 *
 * Category `efficiency`, priority 200, at `pre_tool_selection` and `post_tool_result`.
 *
 * @throws CoxswainError "invalid-definition" when the option is outside its range
 */
export const parallelToolReminder: ProviderDefinition<ParallelToolReminderOptions, GuidanceProvider> = defineProvider<
  ParallelToolReminderOptions,
  GuidanceProvider
>({ sequentialThreshold: sequentialWhenParallel.options.threshold }, ({ sequentialThreshold }): GuidanceProvider =>
  defineGuidance({
    name: 'parallel_tool_reminder',
    category: 'efficiency',
    decisionPoints: ['pre_tool_selection', 'post_tool_result'],
    classifier: sequentialWhenParallel({ threshold: sequentialThreshold }),
    key: 'efficiency.parallel-tools',
    priority: 200,
    content: 'Multiple independent operations detected. Consider executing tools in parallel for efficiency.',
  }),
);
