import { sessionTrajectory } from '../../detect/detectors/session-trajectory.ts';
import type { FeedbackContext } from '../prompt/feedback-context.ts';
import type { FeedbackProviderConfig } from '../prompt/feedback-provider.ts';
import { Filesystem } from '../prompt/prompt-resources.ts';
import type { FeedbackCadence, FeedbackDelivery, PromptTemplate } from '../prompt/prompt-template.ts';
import type { ObserverConfig } from '../prompt/trajectory-observer.ts';
import { checkTimes, createFeedbackContext, type FeedbackContextInput } from './create-feedback-context.ts';
import { EARLIER, prepareSpeakers } from './prepare-feedback.ts';
import { type FeedbackEvaluation, runSpeakers, type RunSpeakersOptions } from './run-speakers.ts';
import { createSituation } from './situation.ts';
import { feedbackSpeakers, observerSpeakers, type Speaker } from './speaker.ts';

/** The state of a run at the end of a tool call. */
export interface FeedbackInput extends FeedbackContextInput {
  readonly prompt: PromptTemplate;
  /**
   * The paths of `watchedFiles` that exist now. Default: read from the prompt's `Filesystem`. If the prompt has none, no
   * file trigger fires.
   */
  readonly filesCreated?: readonly string[] | undefined;
}

/** Options of an evaluation. Their defaults come from the prompt. */
export interface FeedbackOptions extends Omit<RunSpeakersOptions, 'delivery'> {
  /** Pass the same array each time, so that it is checked only once. */
  readonly feedbackProviders?: readonly FeedbackProviderConfig[] | undefined;
  /** Pass the same array each time, so that it is checked only once. */
  readonly observers?: readonly ObserverConfig[] | undefined;
  readonly delivery?: FeedbackDelivery | undefined;
  readonly cadence?: FeedbackCadence | undefined;
}

interface PreparedFeedbackOptions extends RunSpeakersOptions {
  readonly cadence: FeedbackCadence;
}

/**
 * Runs the feedback providers whose trigger fired, then the observers whose trigger fired. Their feedback is dispatched to
 * the session (slices `Feedback` and `Assessment`). It is returned as separate items. It counts as given even if it is not
 * delivered.
 *
 * Faults of providers are returned in `faults`, not thrown.
 *
 * @throws CoxswainError "invalid-argument" if `nowMs` or the deadline is not a finite number
 * @throws CoxswainError "invalid-definition" as `prepareFeedback`, at the first call
 *
 * Cost: O(configurations) while no trigger fires, whatever the length of the run.
 */
export function evaluateFeedback(input: FeedbackInput, options: FeedbackOptions = {}): FeedbackEvaluation {
  const { prompt, session } = input;
  checkTimes(input);
  const providers = feedbackSpeakers(options.feedbackProviders ?? prompt.feedbackProviders);
  const observers = observerSpeakers(options.observers ?? prompt.observers);
  prepareSpeakers(session, providers, EARLIER);
  prepareSpeakers(session, observers, EARLIER);
  const { cadence = prompt.cadence, delivery = prompt.delivery } = options;
  const { trajectory = sessionTrajectory(session) } = input;
  return evaluatePrepared([...providers, ...observers], { ...input, trajectory }, { ...options, cadence, delivery });
}

/**
 * Works like `evaluateFeedback` but without checks, for an evaluation after every call.
 *
 * @param speakers  the providers and observers, which `prepareSpeakers` has prepared in the session
 * @param input  with a finite `nowMs`
 */
export function evaluatePrepared(
  speakers: readonly Speaker[],
  input: FeedbackInput,
  options: PreparedFeedbackOptions,
): FeedbackEvaluation {
  const { prompt, session, nowMs, trajectory } = input;
  const filesystem = prompt.resources.getOptional(Filesystem);
  const source = { session, promptName: prompt.name, nowMs, trajectory, filesystem };
  const situation = createSituation(source, options.cadence, input.filesCreated);
  // The context is created on demand, because in most evaluations no trigger fires.
  let context: FeedbackContext | undefined;
  const getContext = (): FeedbackContext => (context ??= createFeedbackContext(input));
  return runSpeakers(speakers, situation, getContext, options);
}

/** Returns the distinct paths of file triggers. */
export function watchedFiles(prompt: Pick<PromptTemplate, 'feedbackProviders' | 'observers'>): readonly string[] {
  const speakers = [...feedbackSpeakers(prompt.feedbackProviders), ...observerSpeakers(prompt.observers)];
  return [...new Set(speakers.flatMap(({ trigger }) => trigger.onFileCreated ?? []))];
}
