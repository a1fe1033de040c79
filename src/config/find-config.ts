import { statSync, type Stats } from 'node:fs';
import { dirname, isAbsolute, join, sep } from 'node:path';

import { stateRoot } from '../base/state-places.ts';

/** The data of a project's configuration, and its code. */
const CONFIG_FILE = 'coxswain.config.json';
const CODE_FILE = 'coxswain.config.ts';

export interface ConfigPlaces {
  /** For `XDG_CONFIG_HOME` and `XDG_STATE_HOME`; default `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Default: `os.homedir()`. */
  readonly homeFolder?: string | undefined;
}

/** The user's own folders. All absolute. */
export interface UserFolders {
  readonly home: string;
  /** For `config.json` and `config.ts`. */
  readonly config: string;
  /** For control files: `STATE_FILES`. */
  readonly state: string;
}

/** The user's folders by the XDG rules, which ignore relative paths. */
export function userFolders({ env = process.env, homeFolder }: ConfigPlaces): UserFolders {
  const home = homeFolder ?? process.getBuiltinModule('node:os').homedir();
  const xdgHome = env['XDG_CONFIG_HOME'];
  const config = join(xdgHome !== undefined && isAbsolute(xdgHome) ? xdgHome : join(home, '.config'), 'coxswain');
  return { home, config, state: stateRoot({ env, homeFolder: home }) };
}

/** The configuration files of a project. */
export interface FoundProject {
  /** The folder of the files; without files the folder where the search started. */
  readonly folder: string;
  /** Absolute paths of the existing files, data before code. */
  readonly files: readonly string[];
}

/**
 * Finds a project's configuration in a folder or its parents, up to the root of the git repository; outside of a repository
 * only in the folder itself.
 *
 * Cost: three `stat` calls per folder.
 */
export function findProject(projectFolder: string): FoundProject {
  let found: FoundProject | undefined;
  for (let folder = projectFolder; ; folder = dirname(folder)) {
    // `join` is slow, and a hook checks every folder up to the root.
    const at = folder.endsWith(sep) ? folder : folder + sep;
    const files = [at + CONFIG_FILE, at + CODE_FILE].filter(exists);
    if (files.length > 0) found ??= { folder, files };
    // The folder itself needs no repository.
    if (found?.folder === projectFolder) return found;
    if (exists(`${at}.git`)) return found ?? { folder: projectFolder, files: [] };
    if (dirname(folder) === folder) return { folder: projectFolder, files: [] };
  }
}

/** The `stat` of a path; undefined if it does not exist or is not accessible. */
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
