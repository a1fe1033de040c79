import { classifyCount, type Classifier } from './classifier.ts';
import { whole } from '../../base/shape.ts';
import { defineProvider, type ProviderDefinition } from '../prompt/define-provider.ts';

/**
 * The last calls all failed: `threshold` (default 3) or more in a row, as flagged by the source.
 *
 * @throws CoxswainError "invalid-definition" when `threshold` is not a whole number from 1
 */
export const errorStreak: ProviderDefinition<{ readonly threshold?: number }, Classifier> = defineProvider<
  { readonly threshold?: number },
  Classifier
>({ threshold: whole(1, 1_000_000, 3) }, ({ threshold }): Classifier => {
  return {
    name: 'error_streak',
    classify({ trajectory }) {
      const count = trajectory.consecutiveErrors;
      return classifyCount(count, threshold, `${count} failed calls in a row`);
    },
  };
});
