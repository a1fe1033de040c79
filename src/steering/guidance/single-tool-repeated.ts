import { classifyCount, type Classifier } from './classifier.ts';
import { checkWhole } from './check-options.ts';

/**
 * One tool only, whatever its arguments: the newest `threshold` (default 5) calls or more all used it. Thoughts and
 * pauses do not count. Counts twice the threshold at most.
 *
 * @throws CoxswainError "invalid-definition" when `threshold` is not a whole number from 2 to 128
 */
export function singleToolRepeated(options: { readonly threshold?: number } = {}): Classifier {
  const { threshold = 5 } = options;
  checkWhole('threshold', threshold, { min: 2, max: 128 });
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
}
