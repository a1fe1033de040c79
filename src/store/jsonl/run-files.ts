import { join } from 'node:path';

import { isMissing, type FileSystem } from '../file-system.ts';

export interface RunFiles {
  readonly fileSystem: FileSystem;
  /** Absolute path. */
  readonly folder: string;
}

export function recordsPath({ folder }: Pick<RunFiles, 'folder'>): string {
  return join(folder, '0000000000000000.jsonl');
}

/** Returns true if the run's folder no longer exists because it was removed after its name was read. */
export async function isGone({ fileSystem, folder }: RunFiles): Promise<boolean> {
  return (await fileSystem.list(folder).then(() => undefined, isMissing)) ?? false;
}

/** Returns the bytes of a run's files; 0 for a missing run. Cost: a stat per file. */
export async function sizeOfRun({ fileSystem, folder }: RunFiles): Promise<number> {
  try {
    const names = await fileSystem.list(folder);
    const facts = await Promise.all(names.map((name) => fileSystem.facts(join(folder, name))));
    return facts.reduce((bytes, file) => bytes + (file?.sizeBytes ?? 0), 0);
  } catch (thrown) {
    if (isMissing(thrown)) return 0;
    throw thrown;
  }
}
