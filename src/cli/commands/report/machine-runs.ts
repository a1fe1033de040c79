import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';

import { present } from '../../../base/present.ts';
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

/** The sources of a report of this machine. */
export interface MachineSources {
  /** The store of this project, if any. */
  readonly store: Pick<TrajectoryStore, 'listRuns' | 'readRun'> | undefined;
  /** The address of the store. */
  readonly place: string;
  /** The store in messages. */
  readonly storeName: string;
  /** The project of the store. */
  readonly project: string;
  /** Session files written since `sinceMs`. */
  readonly sessions: readonly FoundSession[];
  /** The runs of the store; filled before the first run is yielded. */
  readonly stored: StoredNames;
  readonly problems: Problems;
  readonly sinceMs: number;
  /** The open sessions of Claude Code, if known. */
  readonly open: ReadonlyMap<string, OpenSession> | undefined;
}

/**
 * Every run of the session files and of the project's store whose last record is not before `sinceMs`, with its project. A run
 * in both is yielded once: from the store, with the end from the transcript if the store has none.
 *
 * Memory: as `runsOfStore` and `runsOfTranscripts`; an id, and at most one record, per run of the store.
 */
export async function* runsOfMachine(sources: MachineSources): AsyncGenerator<FoundRun, void, void> {
  const { open, place, problems, project, sessions, sinceMs, store, stored, storeName } = sources;
  const standing = present({ standing: standingBy(open) });
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

/**
 * Adds to a session of Claude Code without an end what its process tells: it was killed if the process is gone, and may wait
 * for its user if not.
 *
 * @returns undefined if the open sessions are unknown
 */
export function standingBy(open: ReadonlyMap<string, OpenSession> | undefined): KnownOfRun | undefined {
  if (open === undefined) return undefined;
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

/** The files of sessions and of their subagents written since `sinceMs`. */
async function* filesOf(sessions: readonly FoundSession[], sinceMs: number): AsyncGenerator<FoundSource, void, void> {
  for (const session of sessions) {
    for await (const found of findSources([session.path])) {
      const stats = found.path === session.path ? undefined : await stat(found.path).catch(() => undefined);
      // A deleted session, or one without runs, is not a problem.
      if (stats === undefined || stats.mtimeMs >= sinceMs) yield { ...found, named: false };
    }
  }
}
