import { type NumberShape, whole } from '../../base/shape.ts';
import { defineProvider, type ProviderDefinition } from '../prompt/define-provider.ts';
import type { GuidanceContext } from '../prompt/guidance-provider.ts';
import { type Classifier, classifyCount, classifyPattern } from './classifier.ts';

/** A classifier that is relevant from a count of `threshold` on. */
export type ThresholdClassifier = ProviderDefinition<{ readonly threshold?: number }, Classifier>;

/** @param count  returns the count at a decision point, and the reason */
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
 * The last `threshold` (default 3) calls or more failed, as flagged by the source.
 *
 * @throws CoxswainError "invalid-definition" if `threshold` is not a whole number from 1
 */
export const errorStreak: ThresholdClassifier = defineThreshold(
  'error_streak',
  whole(1, 1_000_000, 3),
  ({ trajectory: { consecutiveErrors: count } }) => [count, `${count} failed calls in a row`],
);

/**
 * The run has `threshold` (default 50) tool calls or more. Relevant from then on; limits and cooldown decide how often
 * guidance is given.
 *
 * @throws CoxswainError "invalid-definition" if `threshold` is not a whole number from 1
 */
export const highToolCount: ThresholdClassifier = defineThreshold(
  'high_tool_count',
  whole(1, 1_000_000, 50),
  ({ toolCallCount }) => [toolCallCount, `${toolCallCount} tool calls`],
);

/**
 * `threshold` (default 5) or more of the newest `2 * threshold` calls failed.
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
 * The newest `threshold` (default 5) calls or more used the same tool. Thoughts and pauses do not count. Counts at most
 * `2 * threshold`.
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
 * The last result has `minChars` (default 20,000) UTF-16 units or more.
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
/** Calls after which a sighting of a pattern is out of date. */
const MAX_AGE = 5;

/**
 * The newest `maxCalls` (default 20) calls or more had no new result, or the analysis found a stall or stagnation.
 * Thoughts, pauses and polls do not count.
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
        // A quarter more, because some calls do not count.
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
