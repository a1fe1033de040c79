import type { Session } from '../../session/session.ts';
import type { FiredTrigger } from './fired-triggers.ts';
import { clearPendingTriggers } from './pending-observer-trigger.ts';
import type { Speaker } from './speaker.ts';
import { FileTriggerFired, PatternTriggerFired } from './trigger-memory.ts';

/** A speaker that runs, and why. */
export interface RanSpeaker {
  readonly speaker: Speaker;
  readonly triggers: readonly FiredTrigger[];
}

/** Remembers, after all configurations were evaluated, what triggers fired for speakers that ran. */
export function settleTriggers(session: Session, ran: readonly RanSpeaker[], atMs: number): void {
  const served: string[] = [];
  for (const { speaker, triggers } of ran) {
    for (const trigger of triggers) {
      if (trigger.condition === 'onSessionEvent') served.push(trigger.eventName);
      if (trigger.condition === 'onPattern') session.dispatch(PatternTriggerFired(trigger.served, { atMs }));
      if (trigger.condition === 'onFileCreated') {
        session.dispatch(FileTriggerFired({ speaker: speaker.key, path: trigger.path }, { atMs }));
      }
    }
  }
  clearPendingTriggers(session, served, atMs);
}
