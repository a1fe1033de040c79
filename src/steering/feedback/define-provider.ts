import type { ShapesOf } from '../../base/shape.ts';
import type { FeedbackProvider } from '../prompt/feedback-provider.ts';

/** A built-in feedback provider: what a configuration may say of its options, and what makes it of them. */
export interface FeedbackDefinition<Options extends object> {
  readonly options: ShapesOf<Options>;
  readonly make: (options?: Options) => FeedbackProvider;
}

/** A built-in feedback provider: the shape of each of its options with its default, and what makes it of them. */
export function defineProvider<Options extends object>(
  options: ShapesOf<Options>,
  make: (options?: Options) => FeedbackProvider,
): FeedbackDefinition<Options> {
  return { options, make };
}
