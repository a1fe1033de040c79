import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import type { RunAnswer, RunRow } from './api-shapes.ts';

/** The class of the elements that hold the runs of a shared file. The last one is the run that was shared. */
export const SHARED_RUN = 'shared-run';

export interface SharedRun {
  readonly records: readonly TrajectoryRecord[];
  readonly rows: readonly RunRow[];
  readonly answer: RunAnswer;
  /** The time for which the state of a run without an end is told, in Unix milliseconds. */
  readonly judgedAtMs: number;
}

export function readSharedRun(json: string): SharedRun {
  // The cast is safe: the server of the same package writes these elements.
  return JSON.parse(json) as SharedRun;
}

/** Reads the runs in the text of a file. Their data contains no `<`. */
export function sharedRunsIn(file: string): readonly SharedRun[] {
  const elements = file.matchAll(new RegExp(`class="${SHARED_RUN}">([^<]*)</script>`, 'g'));
  return [...elements].map(([, json = '']) => readSharedRun(json));
}
