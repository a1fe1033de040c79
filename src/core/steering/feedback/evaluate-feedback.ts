import { sessionTrajectory } from './session-trajectory.ts';
import type { FeedbackContext, FeedbackProviderConfig, ObserverConfig } from '../prompt/feedback-provider.ts';
import { Filesystem } from '../prompt/prompt-resources.ts';
import type { FeedbackCadence, FeedbackDelivery, PromptTemplate } from '../prompt/prompt-template.ts';
import {
  checkTimes,
  createFeedbackContext,
  type FeedbackContextInput,
  createSituation,
  sessionNowMs,
} from './advice-context.ts';
import { EARLIER, prepareSpeakers, feedbackSpeakers, observerSpeakers, type Speaker } from './speaker.ts';
import {
  type FeedbackEvaluation,
  runSpeakers,
  type RunSpeakersOptions,
  type ProducedFeedback,
} from './run-speakers.ts';
import { invalidArgument } from '../../base/error.ts';
import { joinAdvice } from '../advice/advice.ts';
import type { FeedbackFaultHandler } from '../advice-engine.ts';

/** The state of a run at the end of a tool call. */
export interface FeedbackInput extends FeedbackContextInput {
  readonly prompt: PromptTemplate;
  /** The watched files that exist now; default: from the prompt's `Filesystem`. If it has none, no file trigger fires. */
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
 * Without checks, for an evaluation after every call.
 *
 * @param speakers  prepared by `prepareSpeakers` in the session
 * @param input  with a finite `nowMs`
 */
export function evaluatePrepared(
  speakers: readonly Speaker[],
  input: FeedbackInput,
  options: RunSpeakersOptions & { readonly cadence: FeedbackCadence },
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

export function watchedFiles(prompt: Pick<PromptTemplate, 'feedbackProviders' | 'observers'>): readonly string[] {
  const speakers = [...feedbackSpeakers(prompt.feedbackProviders), ...observerSpeakers(prompt.observers)];
  return [...new Set(speakers.flatMap(({ trigger }) => trigger.onFileCreated ?? []))];
}

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
