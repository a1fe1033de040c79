import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';

import type { FoundSession } from '../../../formats/find-sessions.ts';
import { findSources, type FoundSource } from '../../../formats/find-sources.ts';
import { sessionFolder } from '../../../formats/session-folder.ts';
import type { OpenSession } from '../../../hosts/claude-code/open-sessions.ts';
import { PERMISSION_REQUESTED } from '../../../records/host-notes.ts';
import type { TrajectoryRecord } from '../../../records/trajectory-record.ts';
import type { TrajectoryStore } from '../../../store/trajectory-store.ts';
import type { Problems } from '../../runs/problems.ts';
import { projectAt, type StoredNames } from '../../runs/stored-names.ts';
import { allRuns } from '../../runs/stored-runs.ts';
import type { FoundRun } from './night-run.ts';
import { runsOfStore, runsOfTranscripts, type KnownOfRun } from './report-source.ts';

/** What a report of this machine reads. */
export interface MachineSources {
  /** Absent where this project has none. */
  readonly store: Pick<TrajectoryStore, 'listRuns' | 'readRun'> | undefined;
  /** Its address. */
  readonly place: string;
  /** What the store is called in messages. */
  readonly storeName: string;
  /** The project of the store. */
  readonly project: string;
  /** Session files that were written since `sinceMs`. */
  readonly sessions: readonly FoundSession[];
  /** The runs of the store, filled before the first run is given. */
  readonly stored: StoredNames;
  readonly problems: Problems;
  readonly sinceMs: number;
  /** The sessions of Claude Code that are open now; undefined where that is not known. */
  readonly open: ReadonlyMap<string, OpenSession> | undefined;
}

/**
 * Every run of session files and of the project's store whose latest record is not before `sinceMs`, each with its project. A run that
 * both hold is given once: as the store has it, with the end that the transcript has where the store has none.
 *
 * Memory: as `runsOfStore` and `runsOfTranscripts`; an id, and at most one record, a run of the store.
 */
export async function* runsOfMachine(sources: MachineSources): AsyncGenerator<FoundRun, void, void> {
  const { open, place, problems, project, sessions, sinceMs, store, stored, storeName } = sources;
  const standing = open === undefined ? {} : { standing: standingBy(open) };
  if (store !== undefined) {
    for await (const run of allRuns(store)) if (run.lastAtMs >= sinceMs) stored.add(run);
  }
  const endings = new Map<string, TrajectoryRecord>();
  let last = { source: '', project };
  for await (const found of runsOfTranscripts(filesOf(sessions, sinceMs), { problems, sinceMs, ...standing })) {
    const storedId = stored.idOf(found.run.id);
    if (storedId === undefined) {
      const { source } = found.report;
      if (last.source !== source) {
        last = { source, project: projectAt(await sessionFolder(source)) ?? dirname(source) };
      }
      yield { ...found, run: { ...found.run, project: last.project } };
    } else if (found.ended !== undefined && !endings.has(storedId)) endings.set(storedId, found.ended);
  }
  if (store === undefined) return;
  problems.source(storeName);
  for await (const found of runsOfStore(store, { place, sinceMs, endings, ...standing }))
    yield { ...found, run: { ...found.run, project } };
}

/** A session of Claude Code without an end whose process is gone was killed; one that is open may wait for its user. */
export function standingBy(open: ReadonlyMap<string, OpenSession>): KnownOfRun {
  return (fold) => {
    if (fold.outcome !== undefined || fold.program !== 'claude-code') return;
    const session = open.get(fold.sessionId);
    if (session === undefined) {
      fold.add({ kind: 'run_ended', outcome: 'aborted', reason: 'killed', new_messages: [] });
    } else if (session.waitingFor?.includes('permission') === true && !fold.isWaiting) {
      fold.add({ kind: 'session_event', event_type: PERMISSION_REQUESTED, data: {} });
    }
  };
}

/** Sessions and the files of their subagents, as far as they were written since. */
async function* filesOf(sessions: readonly FoundSession[], sinceMs: number): AsyncGenerator<FoundSource, void, void> {
  for (const session of sessions) {
    for await (const found of findSources([session.path])) {
      const stats = found.path === session.path ? undefined : await stat(found.path).catch(() => undefined);
      // A session that was deleted meanwhile, or holds no run, is no problem.
      if (stats === undefined || stats.mtimeMs >= sinceMs) yield { ...found, named: false };
    }
  }
}
