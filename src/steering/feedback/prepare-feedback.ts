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

/** What feedback keeps of a session besides its slices: nothing that a restored session would miss. */
interface SessionFeedback {
  /** The lists of speakers that the session is set up for. */
  readonly prepared: WeakSet<readonly Speaker[]>;
  /** Kinds of events that are subscribed to. */
  readonly watched: Set<SessionEventKind>;
  /** Who is being asked right now: a speaker that asks for feedback itself would otherwise never end. */
  asking: Speaker | undefined;
}

// One entry a session, made once: to enter and remove who is asked at each evaluation took longer than to ask.
const known = new WeakMap<Session, SessionFeedback>();

/** The same object each time. Cost: one look-up. */
export function sessionFeedback(session: Session): SessionFeedback {
  const found = known.get(session);
  if (found !== undefined) return found;
  const made: SessionFeedback = { prepared: new WeakSet(), watched: new Set(), asking: undefined };
  known.set(session, made);
  return made;
}

/** Every slice that feedback keeps its state in: `createSession({ clock, slices: [...feedbackSlices] })`. */
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
 * Makes a session remember feedback and the events that triggers wait for. `collectFeedback` does it too, but events
 * dispatched before are then lost; so call this when the session begins or is restored.
 *
 * @throws CoxswainError "invalid-definition" when a provider or observer is configured wrongly, or the session knows
 *   another slice or event type of one of the names
 */
export function prepareFeedback(
  session: Session,
  prompt: Pick<PromptTemplate, 'feedbackProviders' | 'observers'>,
): void {
  prepareSpeakers(session, feedbackSpeakers(prompt.feedbackProviders));
  prepareSpeakers(session, observerSpeakers(prompt.observers));
}

/** Cost: O(1) when it was done before. */
export function prepareSpeakers(session: Session, speakers: readonly Speaker[]): void {
  const { prepared } = sessionFeedback(session);
  if (prepared.has(speakers)) return;
  for (const slice of feedbackSlices) session.register(slice);
  rebuildCadence(session);
  for (const { trigger } of speakers) {
    if (trigger.onSessionEvent !== undefined) watch(session, trigger.onSessionEvent);
  }
  prepared.add(speakers);
}

function watch(session: Session, eventKind: SessionEventKind): void {
  const { watched } = sessionFeedback(session);
  if (watched.has(eventKind)) return;
  // Every event kind is an event type whose data is not looked at.
  session.subscribe(eventKind as EventType<unknown>, (event) => {
    session.dispatch(ObserverTriggerRequested(eventKind.eventName, { atMs: event.atMs }));
  });
  watched.add(eventKind);
}
