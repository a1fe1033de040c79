import type { SessionEventKind } from '../prompt/feedback-trigger.ts';
import type { Session } from '../../session/session.ts';
import type { Speaker } from './speaker.ts';

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
