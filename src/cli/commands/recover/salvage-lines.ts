import type { TrajectoryRecord } from '../../../records/trajectory-record.ts';
import { nodeFileSystem } from '../../../store/file-system.ts';
import { walkRun } from '../../../store/jsonl/walk-run.ts';

/** A readable record or a damaged position. */
export type Salvaged =
  | { readonly type: 'record'; readonly record: TrajectoryRecord }
  | { readonly type: 'damage'; readonly reason: string };

/**
 * Reads every intact line in the folder of a run stored as JSON lines. Never writes.
 */
export async function* salvageLines(folder: string): AsyncGenerator<Salvaged, void, void> {
  for await (const item of walkRun({ fileSystem: nodeFileSystem, folder })) {
    if (item.type === 'record') yield { type: 'record', record: item.record };
    else if (item.type === 'damage') yield { type: 'damage', reason: `${item.place}: ${item.problem}` };
    // Ignores the rest of an incomplete append, because it was never acknowledged.
    else for (const record of item.records) yield { type: 'record', record };
  }
}
