import { classifyCount, type Classifier } from './classifier.ts';
import { whole } from '../../base/shape.ts';
import { defineProvider, type ProviderDefinition } from '../prompt/define-provider.ts';

/**
 * One tool only, whatever its arguments: the newest `threshold` (default 5) calls or more all used it. Thoughts and
 * pauses do not count. Counts twice the threshold at most.
 *
 * @throws CoxswainError "invalid-definition" when `threshold` is not a whole number from 2 to 128
 */
export const singleToolRepeated: ProviderDefinition<{ readonly threshold?: number }, Classifier> = defineProvider<
  { readonly threshold?: number },
  Classifier
>({ threshold: whole(2, 128, 5) }, ({ threshold }): Classifier => {
  return {
    name: 'single_tool_repeated',
    classify({ trajectory }) {
      let tool: string | undefined;
      let count = 0;
      for (const call of trajectory.recentCalls(2 * threshold).toReversed()) {
        if (call.kind === 'note' || call.kind === 'wait') continue;
        tool ??= call.tool;
        if (call.tool !== tool) break;
        count += 1;
      }
      return classifyCount(count, threshold, `the last ${count} calls used one tool`);
    },
  };
});
