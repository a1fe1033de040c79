import { present } from '../../base/present.ts';
import type { FeedbackContext } from '../prompt/feedback-context.ts';
import type { FeedbackProvider } from '../prompt/feedback-provider.ts';
import type { ObserverContext, TrajectoryObserver } from '../prompt/trajectory-observer.ts';
import { latestSpoken } from './feedback-cadence.ts';

/**
 * An observer as a feedback provider of the same name. As one of a prompt's `feedbackProviders` it speaks under the
 * head line of feedback and its words lie in the `Feedback` slice.
 */
export function observerAsProvider(observer: TrajectoryObserver): FeedbackProvider {
  return {
    name: observer.name,
    ...present({ defaultTrigger: observer.defaultTrigger }),
    shouldRun: (context) => observer.shouldRun(context.session, observerContext(context)),
    provide: (context) => observer.observe(context.session, observerContext(context)),
  };
}

function observerContext(context: FeedbackContext): ObserverContext {
  const { promptName, toolCallCount } = context;
  const last = latestSpoken(context.session, promptName, ({ source }) => source === 'assessment');
  const lastAssessment = last?.source === 'assessment' ? last.said : undefined;
  return {
    ...context,
    lastAssessment,
    toolCallsSinceLastAssessment: () => toolCallCount - (lastAssessment?.callIndex ?? 0),
  };
}
