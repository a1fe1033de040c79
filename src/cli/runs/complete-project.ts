import { homedir } from 'node:os';

import { systemClock } from '../../core/base/clock.ts';
import { messageOf } from '../../core/base/error.ts';
import { logFault } from '../../core/node/fault-log.ts';
import type { StoreReader } from '../../core/store/trajectory-store.ts';
import { completeRuns, incompleteRuns } from '../../hosts/claude-code/complete-sessions.ts';
import { openReadableStore, openStoreNamed, configuredStore } from './open-store.ts';

const RECENT_RUNS = 50;
/** Runs that were completed by this process, with the time of their file. */
const done = new Set<string>();

/**
 * Completes the recent runs of this project's store from their session files; see `completeRuns`. A problem, such as a store that
 * cannot be written, is a line in the fault log.
 *
 * @param openReader  a reader of that store, if it is open
 */
export async function completeProject(openReader?: StoreReader): Promise<void> {
  const { env } = process;
  const { address, projectFolder } = configuredStore();
  const nowMs = systemClock.nowMs();
  try {
    const reader = openReader ?? (await openReadableStore(address).catch(() => undefined));
    if (reader === undefined) return;
    const { runs } = await reader.listRuns({ limit: RECENT_RUNS });
    const found = await incompleteRuns(runs, { home: homedir(), env, nowMs, store: reader });
    if (reader !== openReader) await reader.close();
    const incomplete = found.filter(({ changedAtMs, runId }) => !done.has(`${runId} ${changedAtMs}`));
    if (incomplete.length === 0) return;
    for (const { changedAtMs, runId } of incomplete) done.add(`${runId} ${changedAtMs}`);
    const store = await openStoreNamed(address);
    try {
      await completeRuns(incomplete, { store, projectFolder, env });
    } finally {
      await store.close();
    }
  } catch (error) {
    logFault({ where: 'session file', message: messageOf(error) }, { projectFolder, env, nowMs });
  }
}
