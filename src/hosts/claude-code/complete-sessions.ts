import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { systemClock } from '../../core/base/clock.ts';
import type { RunSummary } from '../../core/facts/run-summary.ts';
import { logFault, type HookFault } from '../../core/node/fault-log.ts';
import type { TrajectoryStore } from '../../core/store/trajectory-store.ts';
import { claudeCodeImporter } from '../../formats/claude-code/claude-code.ts';
import { hostFolder } from '../../formats/find-sessions.ts';
import { readSession } from '../dialects/session-file.ts';
import { loadConfigSync } from '../config/load-config.ts';
import { projectRedaction, projectSessions } from './project-sessions.ts';

/** A file that changed more recently may belong to a hook that is at work. */
const QUIET_MS = 30_000;
/** Older runs are not completed. */
const RECENT_MS = 7 * 24 * 3_600_000;
const SESSION_ID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;

/** An open run whose session file has changed since its last record, and not in the last 30 seconds. */
export interface IncompleteRun {
  readonly runId: string;
  readonly file: string;
  readonly changedAtMs: number;
}

interface UserPlaces {
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Finds open runs of Claude Code whose session file has more than the run. Cost: one `stat` per run and folder of sessions. */
export function incompleteRuns(
  runs: readonly RunSummary[],
  { home, env, nowMs }: UserPlaces & { readonly nowMs: number },
): readonly IncompleteRun[] {
  const isOpen = ({ format, lastAtMs, outcome }: RunSummary): boolean =>
    outcome === undefined && format === undefined && lastAtMs > nowMs - RECENT_MS;
  const openRuns = runs.filter((run) => isOpen(run) && SESSION_ID.test(run.runId.split('/')[0] ?? ''));
  if (openRuns.length === 0) return [];
  const projects = join(hostFolder('claude-code', { home, env }), 'projects');
  const folders = existsSync(projects) ? readdirSync(projects) : [];
  return openRuns.flatMap(({ lastAtMs, runId }) => {
    const [session = '', agent] = runId.split('/');
    const name = agent === undefined ? `${session}.jsonl` : join(session, 'subagents', `agent-${agent}.jsonl`);
    const file = folders.map((folder) => join(projects, folder, name)).find((path) => existsSync(path));
    const changedAtMs = file === undefined ? 0 : Math.ceil(statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    const isBehind = changedAtMs > lastAtMs && changedAtMs < nowMs - QUIET_MS;
    return file !== undefined && isBehind ? [{ runId, file, changedAtMs }] : [];
  });
}

/**
 * Records what the session files of runs have and no hook reported, because the hook or the program was killed or a command still
 * runs. Advice on it is recorded as undelivered.
 *
 * @throws CoxswainError as `store.transact` and `loadConfigSync`
 */
export async function completeRuns(
  incomplete: readonly IncompleteRun[],
  {
    store,
    projectFolder,
    env,
  }: { readonly store: TrajectoryStore; readonly projectFolder: string; readonly env: NodeJS.ProcessEnv },
): Promise<void> {
  const { resolved } = loadConfigSync({ projectFolder, env });
  const onFault = (fault: HookFault): void => {
    logFault(fault, { projectFolder, env, nowMs: systemClock.nowMs() });
  };
  const redact = projectRedaction(resolved, onFault);
  const sessions = projectSessions(resolved, { store, projectFolder, redact });
  for (const { changedAtMs: arrivedAtMs, file: path, runId } of incomplete) {
    const [sessionId = '', agentId] = runId.split('/');
    const faults = await sessions.foldLate(
      {
        name: 'session file',
        kind: 'seen',
        sessionId,
        ...(agentId === undefined ? {} : { agentId }),
        session: (isKnown) => readSession({ path, importer: claudeCodeImporter, agentId }, isKnown),
      },
      sessionId,
      { id: `file-${arrivedAtMs}`, arrivedAtMs, isWaiting: () => true },
    );
    for (const message of faults) onFault({ where: 'run', message });
  }
}
