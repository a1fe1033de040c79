import { classifyCount, type Classifier } from './classifier.ts';
import { checkWhole } from './check-options.ts';

/**
 * The run has made many tool calls: `threshold` (default 50) or more. Stays relevant from then on; caps and cooldown
 * decide how often that is said.
 *
 * @throws CoxswainError "invalid-definition" when `threshold` is not a whole number from 1
 */
export function highToolCount(options: { readonly threshold?: number } = {}): Classifier {
  const { threshold = 50 } = options;
  checkWhole('threshold', threshold);
  return {
    name: 'high_tool_count',
    classify: ({ toolCallCount }) => classifyCount(toolCallCount, threshold, `${toolCallCount} tool calls`),
  };
}
