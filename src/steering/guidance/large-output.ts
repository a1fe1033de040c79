import { classifyCount, type Classifier } from './classifier.ts';
import { whole } from '../../base/shape.ts';
import { defineProvider, type ProviderDefinition } from '../prompt/define-provider.ts';

/**
 * The last call gave `minChars` (default 20,000) UTF-16 units of text or more.
 *
 * @throws CoxswainError "invalid-definition" when `minChars` is not a whole number from 1
 */
export const largeOutput: ProviderDefinition<{ readonly minChars?: number }, Classifier> = defineProvider<
  { readonly minChars?: number },
  Classifier
>({ minChars: whole(1, 1_000_000_000, 20_000) }, ({ minChars }): Classifier => {
  return {
    name: 'large_output',
    classify(context) {
      const [last] = [...context.recentCalls(1), ...context.trajectory.recentCalls(1)];
      const chars = last?.resultChars ?? 0;
      return classifyCount(chars, minChars, `the last result has ${chars} characters`);
    },
  };
});
