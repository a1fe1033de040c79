import type { LruMap } from '../../core/base/lru-map.ts';
import type { RunSummary } from '../../core/facts/run-summary.ts';
import type { CompareAnswer } from './api-shapes.ts';
import type { LabelsFile } from './labels-file.ts';
import type { ListedSource } from './listed-source.ts';
import type { RunList } from './run-list.ts';
import { viewerFault } from './viewer-fault.ts';
import type { ViewerSource } from './viewer-source.ts';

/** The data that the routes share. */
export interface ViewerState {
  readonly sources: readonly ViewerSource[];
  readonly list: RunList;
  readonly labels: LabelsFile;
  /** A cache of recent comparisons, so that further pages are not recomputed. */
  readonly comparisons: LruMap<Omit<CompareAnswer, 'a' | 'b' | 'next'>>;
}

/** Timeout for the list. If the list takes longer, a single run is looked up in the store. */
const LOOK_MS = 1_000;

/**
 * Returns a run of a source. If the run is not listed yet, it is looked up in the store. @throws CoxswainError with the reason
 * `not-found`
 */
export async function runOf(
  { list }: ViewerState,
  sourceId: string,
  runId: string,
): Promise<{ readonly listed: ListedSource; readonly run: RunSummary }> {
  const listed = list.sourceOf(sourceId);
  await listed.source.refreshWithin(LOOK_MS);
  const { runs } = listed.source;
  const known = runs.get(runId);
  // This throws if the store is gone, even for a listed run.
  const reader = await listed.source.reader();
  const run = known ?? (await reader.findRun(runId));
  if (run !== undefined) return { listed, run };
  throw viewerFault('not-found', `there is no run ${runId.slice(0, 200)} (any more)`, 'Go back to the list of runs.');
}
