import type { TrajectoryRecord } from '../../../records/trajectory-record.ts';
import { nodeFileSystem } from '../../../store/file-system.ts';
import { walkRun } from '../../../store/jsonl/walk-run.ts';

/** A record that could be read, or a place where one or more could not. */
export type Salvaged =
  | { readonly type: 'record'; readonly record: TrajectoryRecord }
  | { readonly type: 'damage'; readonly reason: string };

/**
 * What can be read of the folder of a run in JSON lines: each line that is as it was written, whatever stands around
 * it. Never writes.
 */
export async function* salvageLines(folder: string): AsyncGenerator<Salvaged, void, void> {
  for await (const item of walkRun({ fileSystem: nodeFileSystem, folder })) {
    if (item.type === 'record') yield { type: 'record', record: item.record };
    else if (item.type === 'damage') yield { type: 'damage', reason: `${item.place}: ${item.problem}` };
    // Of an append that a crash cut off, what is there is kept, and nobody was promised the rest.
    else for (const record of item.records) yield { type: 'record', record };
  }
}
