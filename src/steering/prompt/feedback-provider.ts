import type { Observation, Severity } from '../../records/feedback.ts';
import type { PatternReference } from '../../records/guidance.ts';
import type { FeedbackContext } from './feedback-context.ts';
import type { FeedbackTrigger } from './feedback-trigger.ts';

/**
 * What a provider says. Who said it, when, at which call and under which prompt is set by what runs it. Control and
 * bidirectional characters are removed; no text may be longer than 2,000 characters, nor the whole as rendered.
 */
export interface FeedbackDraft {
  readonly summary: string;
  /** Default `info`. */
  readonly severity?: Severity;
  /** At most 20; default none. */
  readonly observations?: readonly Observation[];
  /** At most 20; default none. */
  readonly suggestions?: readonly string[];
  /** The trajectory pattern it speaks of, so that no one else speaks of it again at once. */
  readonly pattern?: PatternReference;
}

/**
 * Says something to the agent after a tool call. A plain, synchronous object. Whatever it throws, and an answer that
 * is no draft, is reported as a fault; the agent never sees it and the next provider is still asked.
 */
export interface FeedbackProvider {
  /** Unique among the providers of a run: 1 to 64 letters, digits, spaces, `.`, `_`, `-`. */
  readonly name: string;
  /** Used when the configuration has no trigger. */
  readonly defaultTrigger?: FeedbackTrigger;
  /** Further filtering, asked only after the trigger fired. */
  shouldRun(context: FeedbackContext): boolean;
  provide(context: FeedbackContext): FeedbackDraft;
}

/** Binds a provider to a prompt or a run. */
export interface FeedbackProviderConfig {
  readonly provider: FeedbackProvider;
  /** Default: the provider's `defaultTrigger`; one of them is needed. */
  readonly trigger?: FeedbackTrigger;
}
