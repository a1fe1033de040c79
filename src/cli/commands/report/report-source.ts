import { allRuns } from '../../../core/store/all-runs.ts';
import { CoxswainError, messageOf } from '../../../core/base/error.ts';
import type { FoundSource } from '../../../formats/find-sources.ts';
import { importSource } from '../../../formats/import-source.ts';
import { readRuns } from '../../../formats/read-runs.ts';
import { RunIds } from '../../../formats/run-ids.ts';

import type { TrajectoryRecord } from '../../../core/records/trajectory-record.ts';
import type { TrajectoryStore } from '../../../core/store/trajectory-store.ts';
import type { Problems } from '../../runs/problems.ts';
import { secretRemover } from '../../runs/shown-records.ts';
import { NightFold } from './night-fold.ts';
import type { FoundRun } from './night-run.ts';

interface StoreQuery {
  readonly sinceMs: number;
  /** End records of runs from transcripts, by run id. Used for stored runs without a reason for their end. */
  readonly endings?: ReadonlyMap<string, TrajectoryRecord>;
  readonly standing?: KnownOfRun;
  /** Path of the store. */
  readonly place?: string;
  /** Returns true for a run that is left out. */
  readonly isLeftOut?: (runId: string) => boolean;
}

/** Adds facts that are known now but not recorded to a run. */
export type KnownOfRun = (fold: NightFold) => void;

/**
 * Maximum number of runs of one transcript that are folded at the same time. Beyond it, the earliest run is yielded before its
 * end.
 */
const MAX_OPEN = 1_000;

/**
 * Yields every run of a store whose last record is not before `sinceMs`, the most recently started run first. For a damaged run,
 * yields the readable part and the problem.
 *
 * Memory: one run.
 */
export async function* runsOfStore(
  store: Pick<TrajectoryStore, 'listRuns' | 'readRun'>,
  { endings, isLeftOut, place, sinceMs, standing }: StoreQuery,
): AsyncGenerator<FoundRun, void, void> {
  for await (const summary of allRuns(store)) {
    if (summary.lastAtMs < sinceMs || isLeftOut?.(summary.runId) === true) continue;
    const fold = new NightFold(summary.runId, undefined, place);
    let problem = summary.problem;
    const withoutSecrets = secretRemover();
    try {
      for await (const record of store.readRun(summary.runId)) fold.fold(withoutSecrets(record));
    } catch (error) {
      if (error instanceof CoxswainError && error.code === 'store-closed') throw error;
      problem ??= messageOf(error);
    }
    const ending = endings?.get(summary.runId);
    if (ending !== undefined && explainsEnd(ending, fold)) {
      fold.fold({ ...ending, run_id: summary.runId, seq: summary.lastSeq + 1 });
    }
    standing?.(fold);
    yield fold.found(problem);
  }
}

function explainsEnd({ payload }: TrajectoryRecord, { outcome }: NightFold): boolean {
  if (outcome === undefined) return true;
  return outcome.reason === undefined && outcome.success === undefined && 'reason' in payload;
}

interface TranscriptOptions {
  readonly problems: Problems;
  readonly sinceMs: number;
  readonly standing?: KnownOfRun;
  /** True to report lost lines. Default: false, because the last line of an active session is incomplete. */
  readonly reportsDamage?: boolean;
}

/**
 * Yields every run of transcripts, in the order of their ends. An unreadable file is reported as a problem, and reading continues
 * with the next file. Runs without times are always included.
 */
export async function* runsOfTranscripts(
  sources: AsyncIterable<FoundSource>,
  options: TranscriptOptions,
): AsyncGenerator<FoundRun, void, void> {
  const ids = new RunIds();
  const { problems } = options;
  for await (const { named, path, sizeBytes } of sources) {
    // Skips pipes and devices in a folder, because reading them may never end.
    if (!named && sizeBytes === undefined) continue;
    problems.source(path);
    try {
      yield* runsOfFile(path, ids, options);
    } catch (error) {
      const isUnknown = error instanceof CoxswainError && error.code === 'format-unknown';
      if (named || !isUnknown) problems.failure(error);
    }
    problems.endSource();
  }
  if (options.reportsDamage === true) problems.endSources(ids.repeated);
}

async function* runsOfFile(
  path: string,
  ids: RunIds,
  { problems, reportsDamage = false, sinceMs, standing }: TranscriptOptions,
): AsyncGenerator<FoundRun, void, void> {
  const folds = new Map<string, NightFold>();
  const yieldedIds = new Set<string>();
  const withoutSecrets = secretRemover();
  const takeRuns = (id: string): readonly FoundRun[] => {
    const fold = folds.get(id);
    folds.delete(id);
    if (fold === undefined) return [];
    if (fold.lastAtMs > 0 && fold.lastAtMs < sinceMs) return [];
    standing?.(fold);
    return [fold.found()];
  };
  for await (const item of readRuns(importSource(path), { source: path, ids })) {
    if (item.type === 'diagnostic') {
      const { line, message, severity } = item.diagnostic;
      if (reportsDamage && severity === 'error') problems.fault({ line, message });
      continue;
    }
    const { id } = item.run;
    if (item.type === 'end') yield* takeRuns(id);
    else if (!yieldedIds.has(id)) {
      const fold = folds.get(id) ?? new NightFold(id, path);
      folds.set(id, fold);
      fold.fold(withoutSecrets(item.record));
      const [oldest] = folds.keys();
      if (folds.size > MAX_OPEN && oldest !== undefined) {
        yieldedIds.add(oldest);
        yield* takeRuns(oldest);
      }
    }
  }
}
