import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import type { RunAnswer, RunRow } from './api-shapes.ts';

/** The class of the elements that hold the runs of a shared file: JSON, as gzip, in Base64. The last one is the run that was shared. */
export const SHARED_RUN = 'shared-run';

export interface SharedRun {
  readonly records: readonly TrajectoryRecord[];
  readonly rows: readonly RunRow[];
  readonly answer: RunAnswer;
  /** The time for which the state of a run without an end is told, in Unix milliseconds. */
  readonly judgedAtMs: number;
}

export async function readSharedRun(base64: string): Promise<SharedRun> {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const json = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  // The cast is safe: the server of the same package writes these elements.
  return (await new Response(json).json()) as SharedRun;
}

export async function sharedRunsIn(file: string): Promise<readonly SharedRun[]> {
  const elements = file.matchAll(new RegExp(`class="${SHARED_RUN}">([^<]*)</script>`, 'g'));
  return await Promise.all([...elements].map(([, data = '']) => readSharedRun(data)));
}
