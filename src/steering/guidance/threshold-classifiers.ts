import { type NumberShape, whole } from '../../base/shape.ts';
import { defineProvider, type ProviderDefinition } from '../prompt/define-provider.ts';
import type { GuidanceContext } from '../prompt/guidance-provider.ts';
import { type Classifier, classifyCount, classifyPattern } from './classifier.ts';

/** A classifier that counts and is relevant from `threshold` on. */
export type ThresholdClassifier = ProviderDefinition<{ readonly threshold?: number }, Classifier>;

/** @param count  what is counted at a decision point, and the reason that the count gives */
export function defineThreshold(
  name: string,
  shape: NumberShape,
  count: (context: GuidanceContext, threshold: number) => readonly [count: number, reason: string],
): ThresholdClassifier {
  return defineProvider<{ readonly threshold?: number }, Classifier>({ threshold: shape }, ({ threshold }) => ({
    name,
    classify(context) {
      const [found, reason] = count(context, threshold);
      return classifyCount(found, threshold, reason);
    },
  }));
}

/**
 * The last calls all failed: `threshold` (default 3) or more in a row, as flagged by the source.
 *
 * @throws CoxswainError "invalid-definition" when `threshold` is not a whole number from 1
 */
export const errorStreak: ThresholdClassifier = defineThreshold(
  'error_streak',
  whole(1, 1_000_000, 3),
  ({ trajectory: { consecutiveErrors: count } }) => [count, `${count} failed calls in a row`],
);

/**
 * The run has made many tool calls: `threshold` (default 50) or more. Stays relevant from then on; caps and cooldown
 * decide how often that is said.
 *
 * @throws CoxswainError "invalid-definition" when `threshold` is not a whole number from 1
 */
export const highToolCount: ThresholdClassifier = defineThreshold(
  'high_tool_count',
  whole(1, 1_000_000, 50),
  ({ toolCallCount }) => [toolCallCount, `${toolCallCount} tool calls`],
);

/**
 * Many of the last calls failed, in a row or not: `threshold` (default 5) or more among the newest `2 * threshold`.
 *
 * @throws CoxswainError "invalid-definition" when `threshold` is not a whole number from 1 to 128
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
 * One tool only, whatever its arguments: the newest `threshold` (default 5) calls or more all used it. Thoughts and
 * pauses do not count. Counts twice the threshold at most.
 *
 * @throws CoxswainError "invalid-definition" when `threshold` is not a whole number from 2 to 128
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
 * The last call gave `minChars` (default 20,000) UTF-16 units of text or more.
 *
 * @throws CoxswainError "invalid-definition" when `minChars` is not a whole number from 1
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
/** A pattern seen longer ago than this many calls says nothing of now. */
const MAX_AGE = 5;

/**
 * Nothing new comes: the newest `maxCalls` (default 20) calls or more brought no new result, or the analysis itself
 * sees a stall or stagnation. Thoughts, pauses and polls do not count.
 *
 * @throws CoxswainError "invalid-definition" when `maxCalls` is not a whole number from 1 to 200
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
