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

/** The state of a run at the end of a tool call. */
export interface FeedbackInput extends FeedbackContextInput {
  readonly prompt: PromptTemplate;
  /**
   * Those of `watchedFiles` that exist now. Default: read from the prompt's `Filesystem`; without one no file trigger
   * fires.
   */
  readonly filesCreated?: readonly string[] | undefined;
}

/** Defaults come from the prompt. */
export interface FeedbackOptions extends Omit<RunSpeakersOptions, 'delivery'> {
  /** Pass the same array each time: it is checked once. */
  readonly feedbackProviders?: readonly FeedbackProviderConfig[] | undefined;
  /** Pass the same array each time: it is checked once. */
  readonly observers?: readonly ObserverConfig[] | undefined;
  readonly delivery?: FeedbackDelivery | undefined;
  readonly cadence?: FeedbackCadence | undefined;
}

interface PreparedFeedbackOptions extends RunSpeakersOptions {
  readonly cadence: FeedbackCadence;
}

/**
 * Runs the feedback providers, then the observers, whose trigger fired. Their feedback is dispatched to the session
 * (slices `Feedback` and `Assessment`) and returned item by item, not joined. It counts as given, delivered or not.
 *
 * Faults of providers are returned in `faults`, not thrown.
 *
 * @throws CoxswainError "invalid-argument" if `nowMs` is not a finite number
 * @throws CoxswainError "invalid-definition" as `prepareFeedback`, the first time
 * Cost: O(configurations) while no trigger fires, whatever the length of the run.
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
 * The same without checks, for an evaluation after every call.
 *
 * @param speakers  prepared in the session by `prepareSpeakers`
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
  // In most evaluations no trigger fires, so the context is created on demand.
  let context: FeedbackContext | undefined;
  const contextOf = (): FeedbackContext => (context ??= createFeedbackContext(input));
  return runSpeakers(speakers, situation, contextOf, options);
}

/** The distinct paths of file triggers. */
export function watchedFiles(prompt: Pick<PromptTemplate, 'feedbackProviders' | 'observers'>): readonly string[] {
  const speakers = [...feedbackSpeakers(prompt.feedbackProviders), ...observerSpeakers(prompt.observers)];
  return [...new Set(speakers.flatMap(({ trigger }) => trigger.onFileCreated ?? []))];
}
