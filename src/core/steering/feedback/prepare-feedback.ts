import type { SessionEventKind } from '../prompt/feedback-trigger.ts';
import type { Session } from '../../session/session.ts';
import { feedbackSpeakers, observerSpeakers, type Speaker } from './speaker.ts';
import type { PromptTemplate } from '../prompt/prompt-template.ts';
import type { EventType } from '../../session/define-event.ts';
import type { Slice } from '../../session/define-slice.ts';
import { Acknowledgement, Assessment, Feedback } from './advice-slices.ts';
import { CadenceSlice, rebuildCadence } from './feedback-cadence.ts';
import {
  FiredFileTrigger,
  ObserverTriggerRequested,
  PatternTriggerLedger,
  PendingObserverTrigger,
} from './trigger-memory.ts';

/** State of a session besides its slices. A restored session does not need it. A speaker is a provider or observer. */
interface SessionFeedback {
  /** Lists of speakers that `prepareSpeakers` has prepared. */
  readonly preparedLists: WeakSet<readonly Speaker[]>;
  /** Kinds of events with a subscription. */
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
  /**
   * True if events that the session processed earlier are pending. A run leaves it out: a restored run no longer knows its
   * earlier events, but must give the same advice as its replay. Default false.
   */
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
