import { present } from '../../base/json.ts';
import {
  type FeedbackContext,
  type FeedbackProvider,
  type FeedbackProviderConfig,
  type ObserverConfig,
  type ObserverContext,
  type TrajectoryObserver,
  checkSpeakers,
  type FeedbackTrigger,
  type SessionEventKind,
} from '../prompt/feedback-provider.ts';
import {
  latestSpoken,
  type SpeakerSource,
  Acknowledgement,
  Assessment,
  Feedback,
  CadenceSlice,
  rebuildCadence,
  FiredFileTrigger,
  ObserverTriggerRequested,
  PatternTriggerLedger,
  PendingObserverTrigger,
} from './advice-slices.ts';
import type { Session } from '../../session/session.ts';
import type { PromptTemplate } from '../prompt/prompt-template.ts';
import type { EventType } from '../../session/define-event.ts';
import type { Slice } from '../../session/define-slice.ts';

/** State of a session besides its slices. A restored session does not need it. A speaker is a provider or observer. */
interface SessionFeedback {
  readonly preparedLists: WeakSet<readonly Speaker[]>;
  readonly watchedKinds: Set<SessionEventKind>;
  /** The speaker that is running. A speaker that requests feedback itself would otherwise never end. */
  runningSpeaker: Speaker | undefined;
}

const feedbackBySession = new WeakMap<Session, SessionFeedback>();

/** Returns the same object for a session each time. Cost: one look-up. */
export function sessionFeedback(session: Session): SessionFeedback {
  const existing = feedbackBySession.get(session);
  if (existing !== undefined) return existing;
  const created: SessionFeedback = { preparedLists: new WeakSet(), watchedKinds: new Set(), runningSpeaker: undefined };
  feedbackBySession.set(session, created);
  return created;
}

/** The slices that contain the state of feedback: `createSession({ clock, slices: [...feedbackSlices] })`. */
export const feedbackSlices: readonly Slice<unknown>[] = [
  Feedback,
  Assessment,
  CadenceSlice,
  PendingObserverTrigger,
  FiredFileTrigger,
  PatternTriggerLedger,
  Acknowledgement,
];

/**
 * Registers the slices of feedback and subscribes to the events of triggers. The first `collectFeedback` also does this.
 * Events that the session processed earlier are pending then, except those before it was restored from a snapshot.
 *
 * @throws CoxswainError "invalid-definition" if a provider or observer is misconfigured, or if the session has another
 *   slice or event type with one of the names
 */
export function prepareFeedback(
  session: Session,
  prompt: Pick<PromptTemplate, 'feedbackProviders' | 'observers'>,
): void {
  prepareSpeakers(session, feedbackSpeakers(prompt.feedbackProviders), EARLIER);
  prepareSpeakers(session, observerSpeakers(prompt.observers), EARLIER);
}

interface PrepareOptions {
  /** Counts earlier events as pending. Not for a run, whose replay must give the same advice. Default false. */
  readonly countsEarlier?: boolean;
}

/** The option of sessions without a run. */
export const EARLIER: PrepareOptions = { countsEarlier: true };

/** Cost: O(1) for speakers that are already prepared. */
export function prepareSpeakers(
  session: Session,
  speakers: readonly Speaker[],
  { countsEarlier = false }: PrepareOptions = {},
): void {
  const { preparedLists } = sessionFeedback(session);
  if (preparedLists.has(speakers)) return;
  for (const slice of feedbackSlices) session.register(slice);
  rebuildCadence(session);
  for (const { trigger } of speakers) {
    if (trigger.onSessionEvent !== undefined) subscribeOnce(session, trigger.onSessionEvent, countsEarlier);
  }
  preparedLists.add(speakers);
}

function subscribeOnce(session: Session, eventKind: SessionEventKind, countsEarlier: boolean): void {
  const { watchedKinds } = sessionFeedback(session);
  if (watchedKinds.has(eventKind)) return;
  // A `SessionEventKind` is an event type whose data is not read.
  session.subscribe(eventKind as EventType<unknown>, (event) => {
    session.dispatch(ObserverTriggerRequested(eventKind.eventName, { atMs: event.atMs }));
  });
  watchedKinds.add(eventKind);
  if (countsEarlier && session.hasDispatched(eventKind)) {
    session.dispatch(ObserverTriggerRequested(eventKind.eventName));
  }
}

/** An observer as a provider of the same name, whose text has the heading of feedback and is stored in `Feedback`. */
export function observerAsProvider(observer: TrajectoryObserver): FeedbackProvider {
  return {
    name: observer.name,
    ...present({ defaultTrigger: observer.defaultTrigger }),
    shouldRun: (context) => observer.shouldRun(context.session, observerContext(context)),
    provide: (context) => observer.observe(context.session, observerContext(context)),
  };
}

function observerContext(context: FeedbackContext): ObserverContext {
  const { promptName, toolCallCount } = context;
  const lastAdvice = latestSpoken(context.session, promptName, ({ source }) => source === 'assessment');
  const lastAssessment = lastAdvice?.source === 'assessment' ? lastAdvice.said : undefined;
  return {
    ...context,
    lastAssessment,
    toolCallsSinceLastAssessment: () => toolCallCount - (lastAssessment?.callIndex ?? 0),
  };
}

export interface Speaker {
  readonly source: SpeakerSource;
  /** `source:name`, unique in an evaluation. */
  readonly key: string;
  readonly provider: FeedbackProvider;
  readonly trigger: FeedbackTrigger;
}

/** The draft refers to the pattern that fired the trigger, so noise control can refuse it before the provider runs. */
export interface TriggerPatternProvider extends FeedbackProvider {
  readonly refersToTriggerPattern: true;
}

// Configurations are frozen with their prompt. They are therefore checked once instead of after every tool call.
const speakersByConfigs = new WeakMap<object, readonly Speaker[]>();

export function feedbackSpeakers(configs: readonly FeedbackProviderConfig[]): readonly Speaker[] {
  return createSpeakers('feedback', configs, ({ provider }) => provider);
}

export function observerSpeakers(configs: readonly ObserverConfig[]): readonly Speaker[] {
  return createSpeakers('assessment', configs, ({ observer }) => observerAsProvider(observer));
}

function createSpeakers<Config extends { readonly trigger?: FeedbackTrigger }>(
  source: SpeakerSource,
  configs: readonly Config[],
  providerOf: (config: Config) => FeedbackProvider,
): readonly Speaker[] {
  const cached = speakersByConfigs.get(configs);
  if (cached !== undefined) return cached;
  const namedProviders = configs.map((config) => {
    const provider = providerOf(config);
    return { provider, name: provider.name, trigger: config.trigger ?? provider.defaultTrigger };
  });
  checkSpeakers(source === 'feedback' ? 'feedback provider' : 'observer', namedProviders);
  const speakers = namedProviders.map(({ provider, name, trigger = {} }) => ({
    source,
    key: `${source}:${name}`,
    provider,
    trigger,
  }));
  speakersByConfigs.set(configs, speakers);
  return speakers;
}
