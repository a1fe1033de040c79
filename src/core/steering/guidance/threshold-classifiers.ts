import { type NumberShape, whole } from '../../base/shape.ts';
import { defineProvider, type ProviderDefinition } from '../prompt/define-provider.ts';
import type { GuidanceContext } from '../prompt/guidance-provider.ts';
import { type Classifier, classifyCount, classifyPattern } from './classifier.ts';

/** A classifier that is relevant if a count reaches `threshold`. */
export type ThresholdClassifier = ProviderDefinition<{ readonly threshold?: number }, Classifier>;

/** @param count  returns the count at a decision point and the reason */
export function defineThreshold(
  name: string,
  shape: NumberShape,
  count: (context: GuidanceContext, threshold: number) => readonly [count: number, reason: string],
): ThresholdClassifier {
  return defineProvider<{ readonly threshold?: number }, Classifier>({ threshold: shape }, ({ threshold }) => ({
    name,
    classify(context) {
      const [total, reason] = count(context, threshold);
      return classifyCount(total, threshold, reason);
    },
  }));
}

/**
 * Relevant if at least the last `threshold` (default 3) calls failed, according to the source.
 *
 * @throws CoxswainError "invalid-definition" if `threshold` is not a whole number from 1
 */
export const errorStreak: ThresholdClassifier = defineThreshold(
  'error_streak',
  whole(1, 1_000_000, 3),
  ({ trajectory: { consecutiveErrors: count } }) => [count, `${count} failed calls in a row`],
);

/**
 * Relevant if the run has at least `threshold` (default 50) tool calls. Limits and the cooldown decide how often guidance
 * is given after that.
 *
 * @throws CoxswainError "invalid-definition" if `threshold` is not a whole number from 1
 */
export const highToolCount: ThresholdClassifier = defineThreshold(
  'high_tool_count',
  whole(1, 1_000_000, 50),
  ({ toolCallCount }) => [toolCallCount, `${toolCallCount} tool calls`],
);

/**
 * Relevant if at least `threshold` (default 5) of the newest `2 * threshold` calls failed.
 *
 * @throws CoxswainError "invalid-definition" if `threshold` is not a whole number from 1 to 128
 */
export const recentFailures: ThresholdClassifier = defineThreshold(
  'recent_failures',
  whole(1, 128, 5),
  ({ trajectory }, threshold) => {
    const count = trajectory.recentCalls(2 * threshold).filter(({ failed }) => failed).length;
    return [count, `${count} of the last ${2 * threshold} calls failed`];
  },
);

/**
 * Relevant if at least the newest `threshold` (default 5) calls used the same tool. Thoughts and pauses do not count. At
 * most `2 * threshold` calls are counted.
 *
 * @throws CoxswainError "invalid-definition" if `threshold` is not a whole number from 2 to 128
 */
export const singleToolRepeated: ThresholdClassifier = defineThreshold(
  'single_tool_repeated',
  whole(2, 128, 5),
  ({ trajectory }, threshold) => {
    const calls = trajectory.recentCalls(2 * threshold).filter(({ kind }) => kind !== 'note' && kind !== 'wait');
    const count = calls.length - 1 - calls.findLastIndex(({ tool }) => tool !== calls.at(-1)?.tool);
    return [count, `the last ${count} calls used one tool`];
  },
);

/**
 * Relevant if the last result has at least `minChars` (default 20,000) UTF-16 units.
 *
 * @throws CoxswainError "invalid-definition" if `minChars` is not a whole number from 1
 */
export const largeOutput: ProviderDefinition<{ readonly minChars?: number }, Classifier> = defineProvider(
  { minChars: whole(1, 1_000_000_000, 20_000) },
  ({ minChars }): Classifier => {
    return {
      name: 'large_output',
      classify(context) {
        const [last] = [...context.recentCalls(1), ...context.trajectory.recentCalls(1)];
        const chars = last?.resultChars ?? 0;
        return classifyCount(chars, minChars, `the last result has ${chars} characters`);
      },
    };
  },
);

const KINDS: ReadonlySet<string> = new Set(['stall', 'stagnation']);
/** Number of calls after which a detected pattern is out of date. */
const MAX_AGE = 5;

/**
 * Relevant if at least the newest `maxCalls` (default 20) calls had no new result, or if the analysis found a stall or
 * stagnation. Thoughts, pauses and polls do not count.
 *
 * @throws CoxswainError "invalid-definition" if `maxCalls` is not a whole number from 1 to 200
 */
export const progressStall: ProviderDefinition<{ readonly maxCalls?: number }, Classifier> = defineProvider(
  { maxCalls: whole(1, 200, 20) },
  ({ maxCalls }): Classifier => {
    return {
      name: 'progress_stall',
      classify({ trajectory }) {
        const pattern = classifyPattern(trajectory, KINDS, MAX_AGE);
        if (pattern !== undefined) return pattern;
        let count = 0;
        // The code reads a quarter more calls, because some calls do not count.
        for (const call of trajectory.recentCalls(Math.ceil(1.25 * maxCalls)).toReversed()) {
          if (call.kind === 'note' || call.kind === 'wait' || call.kind === 'poll') continue;
          if (call.novel) break;
          count += 1;
        }
        return classifyCount(count, maxCalls, `nothing new in ${count} calls`);
      },
    };
  },
);
