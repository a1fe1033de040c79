import type { RecentCall } from '../../detect/patterns/recent-call.ts';
import { whole } from '../../base/shape.ts';
import { defineThreshold, type ThresholdClassifier } from './threshold-classifiers.ts';
import { defineProvider, type ProviderDefinition } from '../prompt/define-provider.ts';
import type { GuidanceProvider } from '../prompt/guidance-provider.ts';
import { defineGuidance } from './define-guidance.ts';

/**
 * Relevant if at least the newest `threshold` (default 3) turns each had one call of the same tool with different
 * arguments. Such calls could have run in parallel. Only successful calls that seem to change nothing are counted, at most
 * `2 * threshold`. Never relevant if the host reports no turns.
 *
 * @throws CoxswainError "invalid-definition" if `threshold` is not a whole number from 2 to 16
 */
export const sequentialWhenParallel: ThresholdClassifier = defineThreshold(
  'sequential_when_parallel',
  whole(2, 16, 3),
  ({ trajectory }, threshold) => {
    // Without turns it is unknown which calls the model issued together.
    const count = trajectory.turns === 0 ? 0 : singleCalls(trajectory.recentCalls(2 * threshold));
    return [count, `${count} turns of one independent call each`];
  },
);

/** @param calls oldest first */
function singleCalls(calls: readonly RecentCall[]): number {
  const tool = calls.at(-1)?.tool;
  const argsKeys: string[] = [];
  for (let position = calls.length - 1; position >= 0; position -= 1) {
    const call = calls[position];
    const comparison = call?.comparison;
    if (call === undefined || comparison === undefined || call.tool !== tool || !isIndependent(call)) break;
    if (argsKeys.includes(comparison.argsKey) || sharesTurn(call, calls, position)) break;
    argsKeys.push(comparison.argsKey);
  }
  return argsKeys.length;
}

function isIndependent(call: RecentCall): boolean {
  return !call.failed && call.outcome === undefined && (call.kind === 'read' || call.kind === 'unknown');
}

function sharesTurn(call: RecentCall, calls: readonly RecentCall[], position: number): boolean {
  return calls[position - 1]?.turn === call.turn || calls[position + 1]?.turn === call.turn;
}

/** Options of `parallelToolReminder`. */
export interface ParallelToolReminderOptions {
  /** Minimum number of consecutive turns with one independent call each, 2 to 16; default 3. */
  readonly sequentialThreshold?: number;
}

/**
 * Reminds the agent that it may run calls in parallel:
 * `Multiple independent operations detected. Consider executing tools in parallel for efficiency.`
 *
 * Category `efficiency`, priority 200, at `pre_tool_selection` and `post_tool_result`.
 *
 * @throws CoxswainError "invalid-definition" if the option is out of range
 */
export const parallelToolReminder: ProviderDefinition<ParallelToolReminderOptions, GuidanceProvider> = defineProvider(
  { sequentialThreshold: sequentialWhenParallel.options.threshold },
  ({ sequentialThreshold }): GuidanceProvider =>
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
