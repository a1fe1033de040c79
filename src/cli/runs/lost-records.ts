import { faultOwners, readFaults } from '../../core/node/fault-log.ts';
import { countOf } from '../../core/base/number-text.ts';
import { projectFolderOf } from '../../core/node/git-folder.ts';

/**
 * Returns the number of records by run id that a process of this project had not stored when it ended. The store knows nothing of
 * them. Losses that name no run are under the empty id. Never throws.
 *
 * @param sinceMs  Unix milliseconds; default: all. There is no end, because the clock may have been set back
 */
export function lostAtEnd(sinceMs = 0): ReadonlyMap<string, number> {
  const { env } = process;
  const projectFolder = projectFolderOf({ projectDir: env['CLAUDE_PROJECT_DIR'], cwd: process.cwd() });
  const counts = new Map<string, number>();
  for (const { at, lost, sessionId = '' } of faultOwners({ env, projectFolder }).flatMap(readFaults)) {
    if (lost === undefined || Date.parse(at) < sinceMs) continue;
    counts.set(sessionId, (counts.get(sessionId) ?? 0) + lost);
  }
  return counts;
}

/** Formats a number from `lostAtEnd` as a sentence. */
export function lostAtEndText(lostRecords: number): string {
  return `${countOf(lostRecords, 'record')} lost, because a process ended before they were stored (see coxswain doctor)`;
}
