import { statSync } from 'node:fs';

import { systemClock } from '../../core/base/clock.ts';
import type { RunSummary } from '../../core/facts/run-summary.ts';
import { logFault, type HookFault } from '../../core/node/fault-log.ts';
import type { TrajectoryStore } from '../../core/store/trajectory-store.ts';
import { agentFileOf, sessionFinder, type SessionPlaces } from '../../formats/find-sessions.ts';
import { importerOf } from '../dialects/dialects.ts';
import { readSession, type SessionFile } from '../dialects/session-file.ts';
import { loadConfigSync } from '../config/load-config.ts';
import { projectRedaction, projectSessions } from './project-sessions.ts';

/** A file that changed more recently may belong to a hook that is at work. */
const QUIET_MS = 30_000;
/** Older runs are not completed. */
export const RECENT_MS: number = 7 * 24 * 3_600_000;

/** A run whose session file has changed since its last record, and not in the last 30 seconds. */
export interface IncompleteRun {
  readonly runId: string;
  readonly file: SessionFile;
  readonly changedAtMs: number;
}

/** Runs of hosts whose session file may have more, also ended ones. Cost: a list of the files; a record and `stat` calls per run. */
export async function incompleteRuns(
  runs: readonly RunSummary[],
  {
    nowMs,
    store,
    ...places
  }: SessionPlaces & { readonly nowMs: number; readonly store: Pick<TrajectoryStore, 'readRun'> },
): Promise<readonly IncompleteRun[]> {
  const found: IncompleteRun[] = [];
  const fileOf = sessionFinder(places);
  for (const { format, lastAtMs, problem, runId } of runs) {
    if (format !== undefined || problem !== undefined || lastAtMs <= nowMs - RECENT_MS) continue;
    const [sessionId = '', agentId] = runId.split('/');
    const host = await hostOf(runId, store);
    const importer = importerOf(host);
    const main = fileOf(host, sessionId);
    if (importer === undefined || main === undefined) continue;
    const path = agentId === undefined ? main : agentFileOf(host, main, agentId);
    const file: SessionFile = { path, importer, sessionId, agentId };
    const changedAtMs = changeOf(file);
    if (changedAtMs > lastAtMs && changedAtMs < nowMs - QUIET_MS) found.push({ runId, file, changedAtMs });
  }
  return found;
}

/** Time of the last change of a session. 0 if its file is missing or unusable. */
function changeOf({ importer, path, sessionId }: SessionFile): number {
  try {
    return importer.shape === 'database' ? importer.changedAtMs(path, sessionId) : Math.ceil(statSync(path).mtimeMs);
  } catch {
    return 0;
  }
}

/** The agent program of a run. Runs of older versions have no name of it. */
async function hostOf(runId: string, store: Pick<TrajectoryStore, 'readRun'>): Promise<string> {
  for await (const { payload } of store.readRun(runId, { limit: 1 }))
    if (payload.kind === 'run_started' && payload.host !== undefined) return payload.host;
  return 'claude-code';
}

/** After a killed hook or program, or during a command. Advice is undelivered. Throws as `store.transact` and `loadConfigSync`. */
export async function completeRuns(
  incomplete: readonly IncompleteRun[],
  store: TrajectoryStore,
  projectFolder: string,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const { resolved } = loadConfigSync({ projectFolder, env });
  const onFault = (fault: HookFault): void => {
    logFault(fault, { projectFolder, env, nowMs: systemClock.nowMs() });
  };
  const redactor = projectRedaction(resolved, onFault);
  const sessions = projectSessions(resolved, { store, projectFolder, redactor });
  for (const { changedAtMs: arrivedAtMs, file, runId } of incomplete) {
    const [sessionId = '', agentId] = runId.split('/');
    const faults = await sessions.foldLate(
      {
        name: 'session file',
        kind: 'seen',
        sessionId,
        ...(agentId === undefined ? {} : { agentId }),
        session: (isKnown) => readSession(file, isKnown),
      },
      sessionId,
      { id: `file-${arrivedAtMs}`, arrivedAtMs, isWaiting: () => true },
    );
    for (const message of faults) onFault({ where: 'run', message });
  }
}
