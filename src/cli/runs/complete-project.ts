import { homedir } from 'node:os';

import { systemClock } from '../../core/base/clock.ts';
import { messageOf } from '../../core/base/error.ts';
import { logFault } from '../../core/node/fault-log.ts';
import { projectAt, projectStoreFile } from '../../core/node/git-folder.ts';
import { sessionFolder } from '../../formats/find-sources.ts';
import {
  completeRuns,
  incompleteRuns,
  RECENT_MS,
  type IncompleteRun,
} from '../../hosts/claude-code/complete-sessions.ts';
import { machineStores, type MachineStore } from './machine-stores.ts';
import { configuredStore, openReadableStore, openStoreNamed } from './open-store.ts';

const RECENT_RUNS = 50;

/** A run of another project is completed by that project's configuration. A problem is a line in the fault log. */
export async function completeProjects(): Promise<void> {
  const nowMs = systemClock.nowMs();
  for (const store of machineStores({ sinceMs: nowMs - RECENT_MS })) await completeStore(store, nowMs);
}

async function completeStore({ address }: MachineStore, nowMs: number): Promise<void> {
  const { env } = process;
  const own = configuredStore();
  const place = { projectFolder: own.projectFolder, env, nowMs };
  try {
    const reader = await openReadableStore(address).catch(() => undefined);
    if (reader === undefined) return;
    const { runs } = await reader.listRuns({ limit: RECENT_RUNS });
    const found = await incompleteRuns(runs, { home: homedir(), env, nowMs, store: reader });
    // A reader in the same process may keep SQLite from writing.
    await reader.close();
    const byProject = new Map<string, IncompleteRun[]>();
    for (const run of found) {
      const folder = address === own.address ? own.projectFolder : await projectOf(run, address);
      if (folder !== undefined) byProject.set(folder, [...(byProject.get(folder) ?? []), run]);
    }
    for (const [projectFolder, incomplete] of byProject) {
      const store = await openStoreNamed(address);
      try {
        await completeRuns(incomplete, store, projectFolder, env);
      } finally {
        await store.close();
      }
    }
  } catch (error) {
    logFault({ where: 'session file', message: messageOf(error) }, place);
  }
}

async function projectOf({ file }: IncompleteRun, address: string): Promise<string | undefined> {
  const { importer, path, sessionId } = file;
  const folder = importer.shape === 'database' ? importer.folder(path, sessionId) : await sessionFolder(path);
  const project = projectAt(folder);
  return project !== undefined && projectStoreFile(project, { env: process.env }) === address ? project : undefined;
}
