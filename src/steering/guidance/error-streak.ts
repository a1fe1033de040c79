import { classifyCount, type Classifier } from './classifier.ts';
import { checkWhole } from './check-options.ts';

/**
 * The last calls all failed: `threshold` (default 3) or more in a row, as flagged by the source.
 *
 * @throws CoxswainError "invalid-definition" when `threshold` is not a whole number from 1
 */
export function errorStreak(options: { readonly threshold?: number } = {}): Classifier {
  const { threshold = 3 } = options;
  checkWhole('threshold', threshold);
  return {
    name: 'error_streak',
    classify({ trajectory }) {
      const count = trajectory.consecutiveErrors;
      return classifyCount(count, threshold, `${count} failed calls in a row`);
    },
  };
}
