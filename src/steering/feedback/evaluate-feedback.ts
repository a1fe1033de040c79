import { sessionTrajectory } from '../../patterns/detectors/session-trajectory.ts';
import { invalidArgument } from '../../base/error.ts';
import type { FeedbackContext } from '../prompt/feedback-context.ts';
import type { FeedbackProviderConfig } from '../prompt/feedback-provider.ts';
import { Filesystem } from '../prompt/prompt-resources.ts';
import type { FeedbackCadence, FeedbackDelivery, PromptTemplate } from '../prompt/prompt-template.ts';
import type { ObserverConfig } from '../prompt/trajectory-observer.ts';
import { createFeedbackContext, type FeedbackContextInput } from './create-feedback-context.ts';
import { prepareSpeakers } from './prepare-feedback.ts';
import { type FeedbackEvaluation, runSpeakers, type RunSpeakersOptions } from './run-speakers.ts';
import { takeSituation } from './situation.ts';
import { feedbackSpeakers, observerSpeakers, type Speaker } from './speaker.ts';

/** The run at the end of a tool call. */
export interface FeedbackInput extends FeedbackContextInput {
  readonly prompt: PromptTemplate;
  /**
   * Paths that exist now, as far as triggers ask (`watchedFiles`). Default: the prompt's `Filesystem` is asked; without
   * one no file trigger fires.
   */
  readonly filesCreated?: readonly string[] | undefined;
}

/** Who is asked and how; what is left out is what the prompt declares. */
export interface FeedbackOptions extends Omit<RunSpeakersOptions, 'delivery'> {
  /** Hand the same array each time: it is checked once. */
  readonly feedbackProviders?: readonly FeedbackProviderConfig[] | undefined;
  /** Hand the same array each time: it is checked once. */
  readonly observers?: readonly ObserverConfig[] | undefined;
  readonly delivery?: FeedbackDelivery | undefined;
  readonly cadence?: FeedbackCadence | undefined;
}

/** As `FeedbackOptions`, with nothing left out that a prompt would declare. */
interface PreparedFeedbackOptions extends RunSpeakersOptions {
  readonly cadence: FeedbackCadence;
}

/**
 * Asks the feedback providers, then the observers, whose trigger fired. What they say is dispatched to the session
 * (slices `Feedback` and `Assessment`) and given back item by item: not joined, not cut to a channel's limit. It counts
 * as said from then on, delivered or not.
 *
 * @throws CoxswainError "invalid-argument" when `nowMs` is not a finite number
 * @throws CoxswainError "invalid-definition" as `prepareFeedback`, the first time
 * Never throws for what providers do: see `faults`.
 * Cost: O(configurations), whatever the length of the run, while no trigger fires.
 */
export function evaluateFeedback(input: FeedbackInput, options: FeedbackOptions = {}): FeedbackEvaluation {
  const { prompt, session, nowMs } = input;
  if (!Number.isFinite(nowMs)) {
    throw invalidArgument(`nowMs must be a finite number, got ${nowMs}`, { details: { nowMs } });
  }
  const providers = feedbackSpeakers(options.feedbackProviders ?? prompt.feedbackProviders);
  const observers = observerSpeakers(options.observers ?? prompt.observers);
  prepareSpeakers(session, providers);
  prepareSpeakers(session, observers);
  const { cadence = prompt.cadence, delivery = prompt.delivery } = options;
  const { trajectory = sessionTrajectory(session) } = input;
  return evaluatePrepared([...providers, ...observers], { ...input, trajectory }, { ...options, cadence, delivery });
}

/**
 * The same for those who evaluate after every call.
 *
 * @param speakers  the session is prepared for them (`prepareFeedback`)
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
  const situation = takeSituation(source, options.cadence, input.filesCreated);
  // Most evaluations end with no trigger fired, so the context is made only when someone is asked.
  let context: FeedbackContext | undefined;
  const contextOf = (): FeedbackContext => (context ??= createFeedbackContext(input));
  return runSpeakers(speakers, situation, contextOf, options);
}

/** The paths that file triggers wait for, each once. */
export function watchedFiles(prompt: Pick<PromptTemplate, 'feedbackProviders' | 'observers'>): readonly string[] {
  const speakers = [...feedbackSpeakers(prompt.feedbackProviders), ...observerSpeakers(prompt.observers)];
  return [...new Set(speakers.flatMap(({ trigger }) => trigger.onFileCreated ?? []))];
}
