import { homedir } from 'node:os';
import { basename } from 'node:path';
import { steadyMs, systemClock } from '../../core/base/clock.ts';
import type { RunFactsFold } from '../../core/facts/run-facts-fold.ts';
import type { RunSummary } from '../../core/facts/run-summary.ts';
import { withoutNumber } from '../../core/facts/task-title.ts';
import { PERMISSION_REQUESTED } from '../../core/records/words.ts';
import { hostFolder, type FoundSession } from '../../formats/find-sessions.ts';
import { openSessions, type OpenSession } from '../../hosts/claude-code/open-sessions.ts';
import { machineSessions } from './open-store.ts';

/** What the processes of Claude Code on this machine say about runs without an end. Plain data. */
export interface Standing {
  readonly open: ReadonlyMap<string, OpenSession>;
  /** Ids of the sessions with a file on this machine. */
  readonly localIds: ReadonlySet<string>;
}

/** @param sessions  default: those of this machine */
export async function standingNow(
  sessions: readonly FoundSession[] = machineSessions().flatMap((host) => host.sessions),
): Promise<Standing | undefined> {
  return standingOf(sessions.map(({ path }) => path));
}

/** Undefined if Claude Code does not say which processes run. `files`: the session files of this machine. */
export async function standingOf(files: readonly string[]): Promise<Standing | undefined> {
  const open = await openSessions(hostFolder('claude-code', { home: homedir(), env: process.env }));
  return open && { open, localIds: new Set(files.map((path) => basename(path, '.jsonl'))) };
}

/** What the processes say about a run of a session that has no end of its own: `markStanding` adds it to the facts. */
export function standsAs(
  sessionId: string,
  standing: Standing | undefined,
): 'unknown' | 'open' | 'killed' | 'elsewhere' {
  if (standing === undefined) return 'unknown';
  if (standing.open.has(sessionId)) return 'open';
  return standing.localIds.has(sessionId) ? 'killed' : 'elsewhere';
}

/** Returns true for a run of which the processes of this machine may say more than its records. */
export function mayStand({ program, view }: RunFactsFold): boolean {
  return view.outcome === undefined && program === 'claude-code';
}

/** A session without an end was killed if its process no longer exists. Without a file on this machine, nothing is known. */
export function markStanding(fold: RunFactsFold, standing: Standing): void {
  if (!mayStand(fold)) return;
  const as = standsAs(fold.sessionId, standing);
  if (as === 'killed') fold.add({ kind: 'run_ended', outcome: 'aborted', reason: 'killed', new_messages: [] });
  if (as !== 'open') return;
  fold.markAlive();
  const session = standing.open.get(fold.sessionId);
  if (session?.waitingFor?.includes('permission') === true && fold.view.waitsFor === '')
    fold.add({ kind: 'session_event', event_type: PERMISSION_REQUESTED, data: {} });
}

const LOOK_MS = 10_000;

/** True for a session of Claude Code whose process no longer exists, looked up at most every ten seconds. */
export async function killedSessions(): Promise<(run: RunSummary) => boolean> {
  const look = async () => {
    const atMs = systemClock.nowMs();
    const claude = machineSessions().filter(({ format }) => format === 'claude-code');
    return { atMs, standing: await standingNow(claude.flatMap(({ sessions }) => sessions)) };
  };
  let found = await look();
  let nextMs = steadyMs() + LOOK_MS;
  return ({ lastAtMs, runId }) => {
    if (steadyMs() >= nextMs) {
      nextMs = steadyMs() + LOOK_MS;
      // Without another look, the one before holds.
      void look().then(
        (next) => (found = next),
        () => undefined,
      );
    }
    const id = withoutNumber(runId);
    const { atMs, standing } = found;
    return lastAtMs < atMs && standsAs(id, standing) === 'killed';
  };
}
