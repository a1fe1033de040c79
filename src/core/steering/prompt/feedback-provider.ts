import type { Observation, Severity } from '../../records/feedback.ts';
import type { PatternReference } from '../../records/guidance.ts';
import type { FeedbackContext } from './feedback-context.ts';
import type { FeedbackTrigger } from './feedback-trigger.ts';

/**
 * The response of a provider. Control and bidirectional characters are removed. Neither a single text nor the complete
 * rendered text may have more than 2,000 characters.
 */
export interface FeedbackDraft {
  readonly summary: string;
  /** Default `info`. */
  readonly severity?: Severity;
  /** At most 20; default none. */
  readonly observations?: readonly Observation[];
  /** At most 20; default none. */
  readonly suggestions?: readonly string[];
  /** The pattern that the feedback is about, for noise control. */
  readonly pattern?: PatternReference;
}

/**
 * Gives feedback after a tool call. Both methods are synchronous. An exception or an invalid response is reported as a
 * fault, which the agent never sees. The next provider still runs.
 */
export interface FeedbackProvider {
  /** Unique among the providers of a run: 1 to 64 letters, digits, spaces, `.`, `_`, `-`. */
  readonly name: string;
  /** Used if the configuration has no trigger. */
  readonly defaultTrigger?: FeedbackTrigger;
  /** Called only after the trigger fired. */
  shouldRun(context: FeedbackContext): boolean;
  provide(context: FeedbackContext): FeedbackDraft;
}

/** Binds a provider to a prompt or a run. */
export interface FeedbackProviderConfig {
  readonly provider: FeedbackProvider;
  /** Default: the provider's `defaultTrigger`. A trigger is required here or in the provider. */
  readonly trigger?: FeedbackTrigger;
}
