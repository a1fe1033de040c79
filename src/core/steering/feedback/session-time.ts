import { invalidArgument } from '../../base/error.ts';
import { defineEvent, type EventType } from '../../session/define-event.ts';
import type { Session } from '../../session/session.ts';

const TimeAsked: EventType<null> = defineEvent('feedback/time-asked');

/**
 * Returns the session's time in Unix milliseconds. The function dispatches an event to read it.
 *
 * @throws CoxswainError "invalid-argument" inside a dispatch, where that event would have to wait
 */
export function sessionNowMs(session: Session): number {
  let atMs: number | undefined;
  const unsubscribe = session.subscribe(TimeAsked, (event) => {
    atMs = event.atMs;
  });
  session.dispatch(TimeAsked());
  unsubscribe();
  if (atMs !== undefined) return atMs;
  throw invalidArgument('feedback inside a dispatch has no clock to read: pass nowMs');
}
