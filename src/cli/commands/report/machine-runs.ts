import { allRuns } from '../../../core/store/all-runs.ts';
import { stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

import { countOf } from '../../../core/base/number-text.ts';
import { present } from '../../../core/base/present.ts';
import type { FoundSession } from '../../../formats/find-sessions.ts';
import { findSources, type FoundSource } from '../../../formats/find-sources.ts';
import { sessionFolder } from '../../../formats/session-folder.ts';
import type { OpenSession } from '../../../hosts/claude-code/open-sessions.ts';
import { PERMISSION_REQUESTED } from '../../../core/records/host-notes.ts';
import type { TrajectoryStore } from '../../../core/store/trajectory-store.ts';
import type { Problems } from '../../runs/problems.ts';
import { projectAt, type StoredNames } from '../../runs/stored-names.ts';
import type { RunUsage } from '../../../core/facts/run-view.ts';
import type { RunFacts } from '../../../core/facts/run-facts.ts';
import type { RunFactsFold } from '../../../core/facts/run-facts-fold.ts';
import type { RunOutcome } from '../../../core/facts/run-verdict.ts';
import { runsOfSources, runsOfStore, type KnownOfRun } from '../../runs/runs-from.ts';

/** The input of a report on all runs of this machine. */
export interface MachineSources {
  /** The store of this project; undefined without a store. */
  readonly store: Pick<TrajectoryStore, 'listRuns' | 'readRun'> | undefined;
  /** The address of the store. */
  readonly place: string;
  readonly storeName: string;
  /** The project that the store belongs to. */
  readonly project: string;
  /** Session files changed since `sinceMs`. */
  readonly sessions: readonly FoundSession[];
  /** The runs of the store. Filled before the first run is yielded. */
  readonly stored: StoredNames;
  readonly problems: Problems;
  readonly sinceMs: number;
  /** The open sessions of Claude Code; undefined if unknown. */
  readonly open: ReadonlyMap<string, OpenSession> | undefined;
}

/**
 * Yields every run of the session files and of the project's store whose last record is at or after `sinceMs`, with its project. A
 * run in both sources is yielded once, from the store. An end and a usage that the store does not have come from the transcript.
 * A run from OpenTelemetry is left out if its session is yielded.
 *
 * Memory: like `runsOfStore` and `runsOfTranscripts`, and an id and at most one record per run of the store.
 */
export async function* runsOfMachine(sources: MachineSources): AsyncGenerator<RunFacts, void, void> {
  const { open, place, problems, project, sessions, sinceMs, store, stored, storeName } = sources;
  const standing = standingBy(open, sessions);
  if (store !== undefined) {
    for await (const run of allRuns(store)) if (run.lastAtMs >= sinceMs) stored.add(run);
  }
  const endings = new Map<string, Ending>();
  const usages = new Map<string, RunUsage>();
  let last = { source: '', project };
  for await (const found of runsOfSources(filesOf(sessions, sinceMs), { problems, sinceMs, known: standing })) {
    const storedId = stored.idOf(found.id);
    stored.addTranscript(found.id);
    if (storedId === undefined) {
      const { source } = found;
      if (last.source !== source) {
        last = { source, project: projectAt(await sessionFolder(source)) ?? dirname(source) };
      }
      yield { ...found, project: last.project };
      continue;
    }
    const { ending, lastAtMs: atMs } = found;
    if (ending !== undefined && !endings.has(storedId)) endings.set(storedId, { ...ending, atMs });
    if (!usages.has(storedId)) usages.set(storedId, usageOf(found));
  }
  if (store === undefined) return;
  problems.source(storeName);
  let leftOut = 0;
  const isLeftOut = (runId: string): boolean => {
    const repeats = stored.repeatsSession(runId);
    if (repeats) leftOut += 1;
    return repeats;
  };
  const known = (fold: RunFactsFold): void => {
    addEnding(fold, endings.get(fold.id));
    standing?.(fold);
  };
  for await (const found of runsOfStore(store, { place, sinceMs, known, isLeftOut })) {
    // The host of a run may report its usage to the transcript only.
    const isUsageKnown = found.tokens !== undefined || found.costUsd !== undefined;
    yield { ...found, ...(isUsageKnown ? {} : usages.get(found.id)), project };
  }
  if (leftOut > 0)
    problems.note({ message: `${countOf(leftOut, 'run')} of telemetry left out: the session itself is in the report` });
}

/** The end of a run in its transcript. */
interface Ending extends RunOutcome {
  readonly atMs: number;
}

/** Adds the end of the transcript to a stored run that has no end, or an end without a reason. */
function addEnding(fold: RunFactsFold, ending: Ending | undefined): void {
  const { outcome: stored } = fold.view;
  if (ending === undefined) return;
  const { atMs, ...end } = ending;
  const explains = stored?.reason === undefined && stored?.success === undefined && end.reason !== undefined;
  if (stored === undefined || explains) fold.add({ kind: 'run_ended', ...end, new_messages: [] }, atMs);
}

function usageOf({ answersWithoutCost, cacheTokens, cacheTokensWithin, costUsd, tokens }: RunUsage): RunUsage {
  return present({ answersWithoutCost, cacheTokens, cacheTokensWithin, costUsd, tokens });
}

/**
 * Returns a function that adds the state of the process to a Claude Code session without an end. If the process no longer exists,
 * the session was killed. Otherwise the session may be waiting for its user. A recorded session without a file on this machine ran
 * elsewhere, for example in a container, so nothing is known about its process.
 *
 * @param sessions  session files on this machine, named by their ids
 * @returns undefined if the open sessions are unknown
 */
export function standingBy(
  open: ReadonlyMap<string, OpenSession> | undefined,
  sessions: readonly FoundSession[],
): KnownOfRun | undefined {
  if (open === undefined) return undefined;
  const localIds = new Set(sessions.map(({ path }) => basename(path, '.jsonl')));
  return (fold) => {
    if (fold.view.outcome !== undefined || fold.program !== 'claude-code') return;
    const session = open.get(fold.sessionId);
    if (session === undefined) {
      if (!localIds.has(fold.sessionId)) return;
      fold.add({ kind: 'run_ended', outcome: 'aborted', reason: 'killed', new_messages: [] });
      return;
    }
    fold.markAlive();
    if (session.waitingFor?.includes('permission') === true && fold.view.waitsFor === '') {
      fold.add({ kind: 'session_event', event_type: PERMISSION_REQUESTED, data: {} });
    }
  };
}

/** Yields the files of sessions and their subagents changed since `sinceMs`. */
async function* filesOf(sessions: readonly FoundSession[], sinceMs: number): AsyncGenerator<FoundSource, void, void> {
  for (const session of sessions) {
    for await (const found of findSources([session.path])) {
      const stats = found.path === session.path ? undefined : await stat(found.path).catch(() => undefined);
      // A deleted session or a session without runs is not a problem.
      if (stats === undefined || stats.mtimeMs >= sinceMs) yield { ...found, named: false };
    }
  }
}
