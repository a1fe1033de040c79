import type { FeedbackProviderConfig, ObserverConfig } from './feedback-provider.ts';
import type { GuidanceProviderConfig } from './guidance-provider.ts';
import type { Prompt } from './prompt.ts';

/** `first` delivers the feedback of the first provider that gives any. `all` delivers the feedback of all providers. */
export type FeedbackDelivery = 'first' | 'all';

/** `everyNCalls` and `everyNSeconds` count from the last feedback of any provider (`shared`), or of the same one. */
export type FeedbackCadence = 'shared' | 'per-provider';

/** A prompt with its providers and observers, created by `definePrompt`. Frozen. */
export interface PromptTemplate extends Prompt {
  readonly feedbackProviders: readonly FeedbackProviderConfig[];
  readonly guidanceProviders: readonly GuidanceProviderConfig[];
  readonly observers: readonly ObserverConfig[];
  readonly delivery: FeedbackDelivery;
  readonly cadence: FeedbackCadence;
}
