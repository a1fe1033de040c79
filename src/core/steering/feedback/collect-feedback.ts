import { invalidArgument } from '../../base/error.ts';
import { joinAdvice } from '../advice/join-advice.ts';
import { evaluateFeedback, type FeedbackInput } from './evaluate-feedback.ts';
import type { FeedbackFaultHandler } from './feedback-fault.ts';
import { type ProducedFeedback, runSpeakers, type RunSpeakersOptions } from './run-speakers.ts';
import { sessionNowMs } from './session-time.ts';
import type { FeedbackContext } from '../prompt/feedback-context.ts';
import type { FeedbackProviderConfig } from '../prompt/feedback-provider.ts';
import type { FeedbackCadence, FeedbackDelivery } from '../prompt/prompt-template.ts';
import { EARLIER, prepareSpeakers } from './prepare-feedback.ts';
import { createSituation } from './situation.ts';
import { feedbackSpeakers } from './speaker.ts';

export interface CollectFeedbackInput extends Omit<FeedbackInput, 'nowMs'> {
  /** Unix milliseconds; default: the session's time. */
  readonly nowMs?: number | undefined;
  readonly onFault?: FeedbackFaultHandler | undefined;
}

/**
 * Returns the feedback for the agent after a tool call. Returns undefined if no provider gives feedback. Dispatch the call
 * first.
 *
 * @throws CoxswainError "invalid-argument" without a prompt or a session, and as `evaluateFeedback`
 */
export function collectFeedback(input: CollectFeedbackInput): string | undefined {
  const { prompt, session }: Partial<CollectFeedbackInput> = input;
  if (prompt === undefined || session === undefined) throw invalidArgument('feedback needs a prompt and a session');
  const nowMs = input.nowMs ?? sessionNowMs(session);
  return joinProduced(evaluateFeedback({ ...input, nowMs }, { onFault: input.onFault }).produced);
}

/** Joins feedback, most severe first, then in order of declaration. Returns undefined if there is no feedback. */
function joinProduced(produced: readonly ProducedFeedback[]): string | undefined {
  return produced.length === 0 ? undefined : joinAdvice(produced, { maxChars: Number.MAX_SAFE_INTEGER }).text;
}

export interface RunFeedbackOptions extends Omit<RunSpeakersOptions, 'delivery'> {
  /** Default `first`. */
  readonly delivery?: FeedbackDelivery | undefined;
  /** Default `shared`. */
  readonly cadence?: FeedbackCadence | undefined;
  /** Default: the files are read from `context.filesystem`. */
  readonly filesCreated?: readonly string[] | undefined;
}

/**
 * Runs feedback providers with a context from the caller. Create the context with `createFeedbackContext`, or spread such a
 * context into a new object.
 *
 * @returns the text for the agent, or undefined if no provider gives feedback
 * @throws CoxswainError "invalid-definition" as `prepareFeedback`, at the first call
 */
export function runFeedbackProviders(
  configs: readonly FeedbackProviderConfig[],
  context: FeedbackContext,
  options: RunFeedbackOptions = {},
): string | undefined {
  const speakers = feedbackSpeakers(configs);
  prepareSpeakers(context.session, speakers, EARLIER);
  const situation = createSituation(context, options.cadence ?? 'shared', options.filesCreated);
  const delivery = options.delivery ?? 'first';
  return joinProduced(runSpeakers(speakers, situation, () => context, { ...options, delivery }).produced);
}
