import { homedir } from 'node:os';
import { basename } from 'node:path';
import type { RunFactsFold } from '../../core/facts/run-facts-fold.ts';
import { PERMISSION_REQUESTED } from '../../core/records/words.ts';
import { findSessions, hostFolder, type FoundSession } from '../../formats/find-sessions.ts';
import { openSessions, type OpenSession } from '../../hosts/claude-code/open-sessions.ts';

const PLACES = { home: homedir(), env: process.env };

/** What the processes of Claude Code on this machine say about runs without an end. Plain data. */
export interface Standing {
  readonly open: ReadonlyMap<string, OpenSession>;
  /** Ids of the sessions with a file on this machine. */
  readonly localIds: ReadonlySet<string>;
}

/**
 * Undefined if Claude Code does not say which processes run.
 *
 * @param sessions  default: those of this machine
 */
export async function standingNow(sessions?: readonly FoundSession[]): Promise<Standing | undefined> {
  const open = await openSessions(hostFolder('claude-code', PLACES));
  if (open === undefined) return undefined;
  const local = sessions ?? findSessions(PLACES).flatMap((host) => host.sessions);
  return { open, localIds: new Set(local.map(({ path }) => basename(path, '.jsonl'))) };
}

/**
 * A session without an end was killed if its process no longer exists. Otherwise it may be waiting for its user. A
 * session without a file on this machine ran elsewhere, so nothing is known about its process.
 */
export function markStanding(fold: RunFactsFold, { localIds, open }: Standing): void {
  if (fold.view.outcome !== undefined || fold.program !== 'claude-code') return;
  const session = open.get(fold.sessionId);
  if (session === undefined) {
    if (localIds.has(fold.sessionId))
      fold.add({ kind: 'run_ended', outcome: 'aborted', reason: 'killed', new_messages: [] });
    return;
  }
  fold.markAlive();
  if (session.waitingFor?.includes('permission') === true && fold.view.waitsFor === '')
    fold.add({ kind: 'session_event', event_type: PERMISSION_REQUESTED, data: {} });
}
