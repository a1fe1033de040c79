import { join } from 'node:path';

import { isMissing, type FileSystem } from '../file-system.ts';

/** The folder of one run. */
export interface RunFiles {
  readonly fileSystem: FileSystem;
  /** Absolute path. */
  readonly folder: string;
}

/** The file of a run's records. */
export function recordsPath({ folder }: Pick<RunFiles, 'folder'>): string {
  return join(folder, '0000000000000000.jsonl');
}

/** True when there is no such run any more: its folder was removed since its name was read. */
export async function isGone({ fileSystem, folder }: RunFiles): Promise<boolean> {
  try {
    await fileSystem.list(folder);
    return false;
  } catch (thrown) {
    return isMissing(thrown);
  }
}

/** Bytes of the files of a run. Cost: a look at each file. */
export async function sizeOfRun({ fileSystem, folder }: RunFiles): Promise<number> {
  try {
    let bytes = 0;
    for (const name of await fileSystem.list(folder))
      bytes += (await fileSystem.facts(join(folder, name)))?.sizeBytes ?? 0;
    return bytes;
  } catch (thrown) {
    if (isMissing(thrown)) return 0;
    throw thrown;
  }
}
