import { present } from '../../base/present.ts';
import type { FeedbackContext } from '../prompt/feedback-context.ts';
import type { FeedbackProvider, FeedbackProviderConfig } from '../prompt/feedback-provider.ts';
import type { ObserverConfig, ObserverContext, TrajectoryObserver } from '../prompt/trajectory-observer.ts';
import { latestSpoken, type SpeakerSource } from './feedback-cadence.ts';
import { checkSpeakers } from '../prompt/check-speakers.ts';
import type { FeedbackTrigger } from '../prompt/feedback-trigger.ts';

/**
 * Wraps an observer as a feedback provider of the same name. In `feedbackProviders`, its text has the heading of feedback
 * and is stored in the `Feedback` slice.
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
  const lastAdvice = latestSpoken(context.session, promptName, ({ source }) => source === 'assessment');
  const lastAssessment = lastAdvice?.source === 'assessment' ? lastAdvice.said : undefined;
  return {
    ...context,
    lastAssessment,
    toolCallsSinceLastAssessment: () => toolCallCount - (lastAssessment?.callIndex ?? 0),
  };
}

/** A feedback provider or observer with its configuration. */
export interface Speaker {
  readonly source: SpeakerSource;
  /** `source:name`, unique in an evaluation. */
  readonly key: string;
  readonly provider: FeedbackProvider;
  readonly trigger: FeedbackTrigger;
}

/**
 * A provider whose draft refers to the pattern that fired its trigger. Noise control can therefore refuse the draft before
 * the provider runs.
 */
export interface TriggerPatternProvider extends FeedbackProvider {
  readonly refersToTriggerPattern: true;
}

// Configurations are frozen with their prompt. They are therefore checked once instead of after every tool call.
const speakersByConfigs = new WeakMap<object, readonly Speaker[]>();

/** @throws CoxswainError "invalid-definition" as `checkSpeakers` */
export function feedbackSpeakers(configs: readonly FeedbackProviderConfig[]): readonly Speaker[] {
  return createSpeakers('feedback', configs, ({ provider }) => provider);
}

/** @throws CoxswainError "invalid-definition" as `checkSpeakers` */
export function observerSpeakers(configs: readonly ObserverConfig[]): readonly Speaker[] {
  return createSpeakers('assessment', configs, ({ observer }) => observerAsProvider(observer));
}

function createSpeakers<Config extends { readonly trigger?: FeedbackTrigger }>(
  source: SpeakerSource,
  configs: readonly Config[],
  providerOf: (config: Config) => FeedbackProvider,
): readonly Speaker[] {
  const cached = speakersByConfigs.get(configs);
  if (cached !== undefined) return cached;
  const namedProviders = configs.map((config) => {
    const provider = providerOf(config);
    return { provider, name: provider.name, trigger: config.trigger ?? provider.defaultTrigger };
  });
  checkSpeakers(source === 'feedback' ? 'feedback provider' : 'observer', namedProviders);
  const speakers = namedProviders.map(({ provider, name, trigger = {} }) => ({
    source,
    key: `${source}:${name}`,
    provider,
    trigger,
  }));
  speakersByConfigs.set(configs, speakers);
  return speakers;
}
