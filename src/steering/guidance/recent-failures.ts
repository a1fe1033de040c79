import { classifyCount, type Classifier } from './classifier.ts';
import { whole } from '../../base/shape.ts';
import { defineProvider, type ProviderDefinition } from '../prompt/define-provider.ts';

/**
 * Many of the last calls failed, in a row or not: `threshold` (default 5) or more among the newest `2 * threshold`.
 *
 * @throws CoxswainError "invalid-definition" when `threshold` is not a whole number from 1 to 128
 */
export const recentFailures: ProviderDefinition<{ readonly threshold?: number }, Classifier> = defineProvider<
  { readonly threshold?: number },
  Classifier
>({ threshold: whole(1, 128, 5) }, ({ threshold }): Classifier => {
  const windowSize = 2 * threshold;
  return {
    name: 'recent_failures',
    classify({ trajectory }) {
      let count = 0;
      for (const call of trajectory.recentCalls(windowSize)) if (call.failed) count += 1;
      return classifyCount(count, threshold, `${count} of the last ${windowSize} calls failed`);
    },
  };
});
