import { classifyCount, type Classifier } from './classifier.ts';
import { whole } from '../../base/shape.ts';
import { defineProvider, type ProviderDefinition } from '../prompt/define-provider.ts';

/**
 * The run has made many tool calls: `threshold` (default 50) or more. Stays relevant from then on; caps and cooldown
 * decide how often that is said.
 *
 * @throws CoxswainError "invalid-definition" when `threshold` is not a whole number from 1
 */
export const highToolCount: ProviderDefinition<{ readonly threshold?: number }, Classifier> = defineProvider<
  { readonly threshold?: number },
  Classifier
>({ threshold: whole(1, 1_000_000, 50) }, ({ threshold }): Classifier => {
  return {
    name: 'high_tool_count',
    classify: ({ toolCallCount }) => classifyCount(toolCallCount, threshold, `${toolCallCount} tool calls`),
  };
});
