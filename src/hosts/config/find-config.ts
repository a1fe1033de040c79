import { statSync, type Stats } from 'node:fs';
import { dirname, isAbsolute, join, sep } from 'node:path';

import { stateRoot } from '../../core/node/state-places.ts';

/** File names of a project configuration: JSON and code. */
const CONFIG_FILE = 'coxswain.config.json';
const CODE_FILE = 'coxswain.config.ts';

export interface ConfigPlaces {
  /** Environment with `XDG_CONFIG_HOME` and `XDG_STATE_HOME`; default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Default: `os.homedir()`. */
  readonly homeFolder?: string | undefined;
}

export interface UserFolders {
  readonly home: string;
  readonly config: string;
  readonly state: string;
}

/** Returns the user's folders according to the XDG specification, which ignores relative paths. */
export function userFolders({ env = process.env, homeFolder }: ConfigPlaces): UserFolders {
  const home = homeFolder ?? process.getBuiltinModule('node:os').homedir();
  const xdgHome = env['XDG_CONFIG_HOME'];
  const config = join(xdgHome !== undefined && isAbsolute(xdgHome) ? xdgHome : join(home, '.config'), 'coxswain');
  return { home, config, state: stateRoot({ env, homeFolder: home }) };
}

export interface FoundProject {
  /** The folder of the files. Without files: the folder in which the search started. */
  readonly folder: string;
  /** Absolute paths of the existing files, JSON before code. */
  readonly files: readonly string[];
}

/** Parent folders are searched up to the root of the git repository. Cost: three `stat` calls per folder. */
export function findProject(projectFolder: string): FoundProject {
  let foundProject: FoundProject | undefined;
  for (let folder = projectFolder; ; folder = dirname(folder)) {
    // `join` is slow, and a hook checks every folder up to the root.
    const folderPath = folder.endsWith(sep) ? folder : folder + sep;
    const files = [folderPath + CONFIG_FILE, folderPath + CODE_FILE].filter(exists);
    if (files.length > 0) foundProject ??= { folder, files };
    // Files in the start folder apply without a git repository.
    if (foundProject?.folder === projectFolder) return foundProject;
    if (exists(`${folderPath}.git`)) return foundProject ?? { folder: projectFolder, files: [] };
    if (dirname(folder) === folder) return { folder: projectFolder, files: [] };
  }
}

export function factsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function exists(path: string): boolean {
  return factsOf(path) !== undefined;
}
