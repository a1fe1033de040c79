import type { FeedbackProviderConfig } from './feedback-provider.ts';
import type { GuidanceProviderConfig } from './guidance-provider.ts';
import type { Prompt } from './prompt.ts';
import type { ObserverConfig } from './trajectory-observer.ts';

/** Whose text is delivered: that of the first provider that speaks, or that of all. */
export type FeedbackDelivery = 'first' | 'all';

/** What `everyNCalls` and `everyNSeconds` count from: what anyone said last, or what the provider itself said last. */
export type FeedbackCadence = 'shared' | 'per-provider';

/** A prompt with all that it declares: what `definePrompt` makes. Frozen. */
export interface PromptTemplate extends Prompt {
  readonly feedbackProviders: readonly FeedbackProviderConfig[];
  readonly guidanceProviders: readonly GuidanceProviderConfig[];
  readonly observers: readonly ObserverConfig[];
  readonly delivery: FeedbackDelivery;
  readonly cadence: FeedbackCadence;
}
