import { faultOwners, readFaults } from '../../base/fault-log.ts';
import { countOf } from '../../base/number-text.ts';
import { projectFolderOf } from '../../base/project-folder.ts';

/** The time to which the logged losses are limited, in Unix milliseconds. */
export interface LossTimes {
  readonly sinceMs: number;
  readonly untilMs: number;
}

/**
 * Returns the number of records by run id that a process of this project had not stored when it ended. The store knows nothing of
 * them. Losses that name no run are under the empty id. Never throws.
 */
export function lostAtEnd(times?: LossTimes): ReadonlyMap<string, number> {
  const { env } = process;
  const projectFolder = projectFolderOf({ projectDir: env['CLAUDE_PROJECT_DIR'], cwd: process.cwd() });
  const counts = new Map<string, number>();
  for (const { at, lost, sessionId = '' } of faultOwners({ env, projectFolder }).flatMap(readFaults)) {
    if (lost === undefined || (times !== undefined && !isWithin(Date.parse(at), times))) continue;
    counts.set(sessionId, (counts.get(sessionId) ?? 0) + lost);
  }
  return counts;
}

function isWithin(atMs: number, { sinceMs, untilMs }: LossTimes): boolean {
  return atMs >= sinceMs && atMs <= untilMs;
}

/** Formats a number of lost records as a fact in a list. Returns no fact for 0. */
export function lostFacts(lostRecords = 0): readonly string[] {
  return lostRecords === 0 ? [] : [`${countOf(lostRecords, 'record')} lost`];
}
