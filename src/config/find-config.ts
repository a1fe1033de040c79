import { statSync, type Stats } from 'node:fs';
import { dirname, isAbsolute, join, sep } from 'node:path';

import { stateRoot } from '../base/state-places.ts';

/** The data of a project's configuration, and its code. */
const CONFIG_FILE = 'coxswain.config.json';
const CODE_FILE = 'coxswain.config.ts';

/** Where a configuration is looked for. */
export interface ConfigPlaces {
  /** `XDG_CONFIG_HOME` and `XDG_STATE_HOME` are read; default `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Default: `os.homedir()`. */
  readonly homeFolder?: string | undefined;
}

/** The user's own folders. All absolute. */
export interface UserFolders {
  readonly home: string;
  /** `config.json` and `config.ts` are here. */
  readonly config: string;
  /** Control files: `STATE_FILES`. */
  readonly state: string;
}

/** The user's folders, by the XDG rules: a variable that holds no absolute path does not count. */
export function userFolders({ env = process.env, homeFolder }: ConfigPlaces): UserFolders {
  const home = homeFolder ?? process.getBuiltinModule('node:os').homedir();
  const named = env['XDG_CONFIG_HOME'];
  const config = join(named !== undefined && isAbsolute(named) ? named : join(home, '.config'), 'coxswain');
  return { home, config, state: stateRoot({ env, homeFolder: home }) };
}

/** A project's configuration as it lies on the disk. */
export interface FoundProject {
  /** The folder of the files; where there are none, the folder that was asked about. */
  readonly folder: string;
  /** Absolute paths of the files that are there: the data before the code. */
  readonly files: readonly string[];
}

/**
 * Looks for a project's configuration in a folder and those above it, up to the root of the git repository. Outside of a
 * repository only the folder itself counts: what lies above it is not the project's.
 *
 * Cost: three look-ups a folder.
 */
export function findProject(projectFolder: string): FoundProject {
  let found: FoundProject | undefined;
  for (let folder = projectFolder; ; folder = dirname(folder)) {
    // Not `join`, which looks at every character: a hook looks into each folder up to the root.
    const at = folder.endsWith(sep) ? folder : folder + sep;
    const files = [at + CONFIG_FILE, at + CODE_FILE].filter(isThere);
    if (files.length > 0) found ??= { folder, files };
    // What is in the folder itself needs no repository.
    if (found?.folder === projectFolder) return found;
    if (isThere(`${at}.git`)) return found ?? { folder: projectFolder, files: [] };
    if (dirname(folder) === folder) return { folder: projectFolder, files: [] };
  }
}

/** What is at a path, links followed; undefined where nothing is or nobody may look. */
export function factsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function isThere(path: string): boolean {
  return factsOf(path) !== undefined;
}
