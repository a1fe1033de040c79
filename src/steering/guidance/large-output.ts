import { classifyCount, type Classifier } from './classifier.ts';
import { checkWhole } from './check-options.ts';

/**
 * The last call gave `minChars` (default 20,000) UTF-16 units of text or more.
 *
 * @throws CoxswainError "invalid-definition" when `minChars` is not a whole number from 1
 */
export function largeOutput(options: { readonly minChars?: number } = {}): Classifier {
  const { minChars = 20_000 } = options;
  checkWhole('minChars', minChars);
  return {
    name: 'large_output',
    classify({ trajectory }) {
      const chars = trajectory.recentCalls(1)[0]?.resultChars ?? 0;
      return classifyCount(chars, minChars, `the last result has ${chars} characters`);
    },
  };
}
