import type { Json } from '../../base/json.ts';
import { snapshotName, snapshotsIn } from './jsonl-names.ts';
import { namesIn } from './jsonl-run-files.ts';
import type { RunFiles } from './jsonl-run-files.ts';
import { holdsLine } from './jsonl-holds-line.ts';
import type { RunProgress } from './jsonl-progress.ts';
import { readSealed, removeIfThere, writeSealed } from './jsonl-sealed-file.ts';

/** A snapshot of another version does not hold: a fold starts over from the records. */
const LAYOUT = 1;

/** What a transaction saved. */
export interface SavedSnapshot {
  readonly layout: number;
  readonly snapshot: Json;
  /** The run as it is once the records that the snapshot covers are stored; null before the first record. */
  readonly progress: RunProgress | null;
  /** Byte offset where the records of its transaction begin; absent where it has none. */
  readonly writeOffset?: number;
}

/**
 * A snapshot is written before the records of its transaction and names the last of them by place and check. It
 * holds only once they are there, so the records' own write is the moment at which both are stored.
 *
 * @returns the snapshot that holds, and the names of those that do not hold or are older
 */
export async function findSnapshot(
  run: RunFiles,
): Promise<{ readonly saved?: SavedSnapshot; readonly others: readonly string[] }> {
  const names = snapshotsIn(await namesIn(run));
  const others: string[] = [];
  let saved: SavedSnapshot | undefined;
  for (const name of names) {
    const json = saved === undefined ? await readSealed(run, name) : undefined;
    // Its check agrees, so it is what `writeSnapshot` wrote.
    const candidate = json === undefined ? undefined : (JSON.parse(json) as SavedSnapshot);
    if (candidate !== undefined && (await holds(run, candidate))) saved = candidate;
    else others.push(name);
  }
  return { others, ...(saved !== undefined && { saved }) };
}

/** Writes a snapshot under the name of the last record that it covers. Throws what the file system throws. */
export async function writeSnapshot(
  run: RunFiles,
  snapshotJson: string,
  { progress, writeOffset }: Pick<SavedSnapshot, 'progress' | 'writeOffset'>,
): Promise<void> {
  const name = snapshotName(progress?.summary.lastSeq ?? -1);
  const rest = JSON.stringify({ progress, writeOffset }).slice(1);
  await writeSealed(run, name, `{"layout":${LAYOUT},"snapshot":${snapshotJson},${rest}`);
}

/** Removes snapshots that do not hold, and waits until the disk has forgotten them. */
export async function removeSnapshots(run: RunFiles, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  for (const name of names) await removeIfThere(run, name);
  await run.fileSystem.syncFolder(run.folder);
}

async function holds(run: RunFiles, { layout, progress, writeOffset }: SavedSnapshot): Promise<boolean> {
  if (layout !== LAYOUT) return false;
  return progress === null || (await holdsLine(run, progress.place, writeOffset));
}
