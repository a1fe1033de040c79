import type { LruMap } from '../../base/lru-map.ts';
import type { RunSummary } from '../../store/run-summary.ts';
import type { CompareAnswer } from './api-shapes.ts';
import type { Configurations } from './configurations.ts';
import type { LabelsFile } from './labels-file.ts';
import type { ReportFiles } from './report-files.ts';
import type { ListedSource } from './listed-source.ts';
import type { RunList } from './run-list.ts';
import { viewerFault } from './viewer-fault.ts';
import type { ViewerSource } from './viewer-source.ts';

/** The data of the routes. */
export interface ViewerState {
  readonly sources: readonly ViewerSource[];
  readonly list: RunList;
  readonly labels: LabelsFile;
  readonly reports: ReportFiles;
  readonly configurations: Configurations;
  /** Recent comparisons, so that their pages are not recomputed. */
  readonly comparisons: LruMap<Omit<CompareAnswer, 'next'>>;
}

/** A single run is looked up if the list takes longer. */
const LOOK_MS = 1_000;

/** A run of a source, looked up in the store if it is not listed yet. @throws CoxswainError with the reason `not-found` */
export async function runOf(
  { list }: ViewerState,
  sourceId: string,
  runId: string,
): Promise<{ readonly listed: ListedSource; readonly run: RunSummary }> {
  const listed = list.sourceOf(sourceId);
  await listed.source.refreshWithin(LOOK_MS);
  const { runs } = listed.source;
  const known = runs.get(runId);
  // Throws if the store is gone, also for a listed run.
  const reader = await listed.source.reader();
  const run = known ?? (await reader.findRun(runId));
  if (run !== undefined) return { listed, run };
  throw viewerFault('not-found', `there is no run ${runId.slice(0, 200)} (any more)`, 'Go back to the list of runs.');
}
