import { classifyCount, type Classifier } from './classifier.ts';
import { checkWhole } from './check-options.ts';

/**
 * Many of the last calls failed, in a row or not: `threshold` (default 5) or more among the newest `2 * threshold`.
 *
 * @throws CoxswainError "invalid-definition" when `threshold` is not a whole number from 1 to 128
 */
export function recentFailures(options: { readonly threshold?: number } = {}): Classifier {
  const { threshold = 5 } = options;
  checkWhole('threshold', threshold, { max: 128 });
  const windowSize = 2 * threshold;
  return {
    name: 'recent_failures',
    classify({ trajectory }) {
      let count = 0;
      for (const call of trajectory.recentCalls(windowSize)) if (call.failed) count += 1;
      return classifyCount(count, threshold, `${count} of the last ${windowSize} calls failed`);
    },
  };
}
