import { isMissing } from '../file-system.ts';
import type { RunFiles } from './jsonl-run-files.ts';
import { makeFolder } from '../make-folder.ts';
import { takeRunLock } from './run-lock.ts';
import type { LockOptions, RunLock } from './run-lock.ts';

/** How often a folder is made again that another process deletes while its lock is taken. */
const MAX_TRIES = 20;

/**
 * Makes the folder of a run where it is missing, and takes its lock. Throws as `takeRunLock`, and what the file system
 * throws.
 */
export async function takeRunFolder(run: RunFiles, options: LockOptions): Promise<RunLock> {
  for (let tries = 1; ; tries += 1) {
    try {
      await makeFolder(run.fileSystem, run.folder);
      return await takeRunLock(run, options);
    } catch (thrown) {
      if (!isMissing(thrown) || tries === MAX_TRIES) throw thrown;
    }
  }
}
