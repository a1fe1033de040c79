import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';

import { hasCode, isMissing } from '../file-system.ts';
import type { FileSystem } from '../file-system.ts';
import { segmentsIn, snapshotsIn } from './jsonl-names.ts';
import { namesIn } from './jsonl-run-files.ts';
import type { RunFiles } from './jsonl-run-files.ts';
import { removeIfThere } from './jsonl-sealed-file.ts';
import { isRunFolderName } from './run-folder-name.ts';
import { takeRunLock } from './run-lock.ts';
import type { LockOptions, RunLock } from './run-lock.ts';

/** A folder of this name was a run's; no reader looks at it. */
const REMOVED = /^removed-[0-9a-f-]+$/;

/**
 * Deletes a run: its folder gets another name in one step, and the disk has that before the first of its files is
 * removed. So whatever happens in the middle, the run is there whole or not at all.
 *
 * Throws what the file system throws, or as `takeRunLock`; the run is as it was then, or is gone with files left over.
 *
 * @param held  the run's lock, where this process has it; it ends in any case
 * @returns whether there was a record or a snapshot
 */
export async function deleteRunFiles(run: RunFiles, held: RunLock | undefined, options: LockOptions): Promise<boolean> {
  const lock = held ?? (await lockIfThere(run, options));
  if (lock === undefined) return false;
  let moved: MovedRun;
  try {
    moved = await moveAway(run);
    lock.end();
  } catch (thrown) {
    await lock.release().catch(() => undefined);
    // Somebody without a lock has removed the folder.
    if (isMissing(thrown)) return false;
    throw thrown;
  }
  await removeMovedRun(run.fileSystem, moved.folder);
  return moved.hadAny;
}

async function lockIfThere(run: RunFiles, options: LockOptions): Promise<RunLock | undefined> {
  if (await isGone(run)) return undefined;
  try {
    return await takeRunLock(run, options);
  } catch (thrown) {
    // Another process has deleted the run meanwhile.
    if (isMissing(thrown)) return undefined;
    throw thrown;
  }
}

interface MovedRun {
  readonly folder: string;
  readonly hadAny: boolean;
}

async function moveAway({ fileSystem, folder }: RunFiles): Promise<MovedRun> {
  const names = await fileSystem.list(folder);
  const hadAny = segmentsIn(names).length > 0 || snapshotsIn(names).length > 0;
  const moved = join(dirname(folder), `removed-${randomUUID()}`);
  await fileSystem.rename(folder, moved);
  try {
    await fileSystem.syncFolder(dirname(folder));
  } catch (thrown) {
    // Back to where it was, so that the refusal is not half a deletion. Where that is refused too, the run is gone.
    await fileSystem.rename(moved, folder).catch(() => undefined);
    throw thrown;
  }
  return { folder: moved, hadAny };
}

/** Removes a folder and the files in it, where they are still there: another process may be at it too. */
async function removeMovedRun(fileSystem: FileSystem, folder: string): Promise<void> {
  const run = { fileSystem, folder };
  for (const name of await namesIn(run)) await removeIfThere(run, name);
  try {
    await fileSystem.removeFolder(folder);
  } catch (thrown) {
    if (!isMissing(thrown)) throw thrown;
  }
}

/** Removes what processes that ended in the middle of `removeMovedRun` left in a store's folder. */
export async function removeLeftOvers(fileSystem: FileSystem, storeFolder: string): Promise<void> {
  for (const name of await namesIn({ fileSystem, folder: storeFolder })) {
    if (REMOVED.test(name)) await removeMovedRun(fileSystem, join(storeFolder, name));
  }
}

/** True when there is no such run any more: it was deleted since its name was read. */
export async function isGone({ fileSystem, folder }: RunFiles): Promise<boolean> {
  try {
    await fileSystem.list(folder);
    return false;
  } catch (thrown) {
    return isMissing(thrown);
  }
}

/** Bytes of the files of a run. Cost: a look at each file. */
export async function bytesOfRun(run: RunFiles): Promise<number> {
  let bytes = 0;
  for (const name of await namesIn(run)) bytes += (await run.fileSystem.facts(join(run.folder, name)))?.sizeBytes ?? 0;
  return bytes;
}

/** Bytes of all files of a store, also of those that a deletion has left. */
export async function bytesOfStore(fileSystem: FileSystem, storeFolder: string): Promise<number> {
  let bytes = 0;
  for (const name of await namesIn({ fileSystem, folder: storeFolder })) {
    if (!isRunFolderName(name) && !REMOVED.test(name)) continue;
    const folder = join(storeFolder, name);
    try {
      bytes += await bytesOfRun({ fileSystem, folder });
    } catch (thrown) {
      // A file that is called so is not the store's.
      if (!hasCode(thrown, 'ENOTDIR')) throw thrown;
    }
  }
  return bytes;
}
