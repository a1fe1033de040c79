import type { FeedbackContext } from '../prompt/feedback-context.ts';
import type { FeedbackProviderConfig } from '../prompt/feedback-provider.ts';
import type { FeedbackCadence, FeedbackDelivery } from '../prompt/prompt-template.ts';
import { joinProduced } from './collect-feedback.ts';
import { prepareSpeakers } from './prepare-feedback.ts';
import { runSpeakers, type RunSpeakersOptions } from './run-speakers.ts';
import { takeSituation } from './situation.ts';
import { feedbackSpeakers } from './speaker.ts';

/** How providers are run. */
export interface RunFeedbackOptions extends Omit<RunSpeakersOptions, 'delivery'> {
  /** Default `first`. */
  readonly delivery?: FeedbackDelivery | undefined;
  /** Default `shared`. */
  readonly cadence?: FeedbackCadence | undefined;
  /** Default: `context.filesystem` is asked. */
  readonly filesCreated?: readonly string[] | undefined;
}

/**
 * Runs feedback providers against a context of one's own, made by `createFeedbackContext` or spread from one.
 *
 * @returns the text for the agent, or undefined when nobody speaks
 * @throws CoxswainError "invalid-definition" as `prepareFeedback`, the first time
 */
export function runFeedbackProviders(
  configs: readonly FeedbackProviderConfig[],
  context: FeedbackContext,
  options: RunFeedbackOptions = {},
): string | undefined {
  const speakers = feedbackSpeakers(configs);
  prepareSpeakers(context.session, speakers);
  const situation = takeSituation(context, options.cadence ?? 'shared', options.filesCreated);
  const delivery = options.delivery ?? 'first';
  return joinProduced(runSpeakers(speakers, situation, () => context, { ...options, delivery }).produced);
}
