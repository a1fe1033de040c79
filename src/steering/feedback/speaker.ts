import { present } from '../../base/present.ts';
import type { FeedbackContext } from '../prompt/feedback-context.ts';
import type { FeedbackProvider, FeedbackProviderConfig } from '../prompt/feedback-provider.ts';
import type { ObserverConfig, ObserverContext, TrajectoryObserver } from '../prompt/trajectory-observer.ts';
import { latestSpoken, type SpeakerSource } from './feedback-cadence.ts';
import { checkSpeakers } from '../prompt/check-speakers.ts';
import type { FeedbackTrigger } from '../prompt/feedback-trigger.ts';

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

/** A configured provider or observer: from here on both are one thing. */
export interface Speaker {
  readonly source: SpeakerSource;
  /** `source:name`, unique in an evaluation. */
  readonly key: string;
  readonly provider: FeedbackProvider;
  readonly trigger: FeedbackTrigger;
}

// Configurations are frozen with their prompt, so they are checked once and not after every tool call.
const ofProviders = new WeakMap<readonly FeedbackProviderConfig[], readonly Speaker[]>();
const ofObservers = new WeakMap<readonly ObserverConfig[], readonly Speaker[]>();

/** @throws CoxswainError "invalid-definition" as `checkSpeakers` */
export function feedbackSpeakers(configs: readonly FeedbackProviderConfig[]): readonly Speaker[] {
  const known = ofProviders.get(configs);
  if (known !== undefined) return known;
  const speakers = configs.map(({ provider, trigger }) => speakerOf('feedback', provider, trigger));
  checkSpeakers(
    'feedback provider',
    configs.map(({ provider, trigger }) => named(provider, trigger)),
  );
  ofProviders.set(configs, speakers);
  return speakers;
}

/** @throws CoxswainError "invalid-definition" as `checkSpeakers` */
export function observerSpeakers(configs: readonly ObserverConfig[]): readonly Speaker[] {
  const known = ofObservers.get(configs);
  if (known !== undefined) return known;
  const speakers = configs.map(({ observer, trigger }) =>
    speakerOf('assessment', observerAsProvider(observer), trigger),
  );
  checkSpeakers(
    'observer',
    configs.map(({ observer, trigger }) => named(observer, trigger)),
  );
  ofObservers.set(configs, speakers);
  return speakers;
}

function speakerOf(source: SpeakerSource, provider: FeedbackProvider, trigger: FeedbackTrigger | undefined): Speaker {
  return { source, key: `${source}:${provider.name}`, provider, trigger: trigger ?? provider.defaultTrigger ?? {} };
}

function named(
  speaker: Pick<FeedbackProvider, 'name' | 'defaultTrigger'>,
  trigger: FeedbackTrigger | undefined,
): { readonly name: string; readonly trigger: FeedbackTrigger | undefined } {
  return { name: speaker.name, trigger: trigger ?? speaker.defaultTrigger };
}
