import { realpathSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';

import { hashText } from './hash.ts';
import { makeOwnFolder } from './guarded-file.ts';

/** Variables of the environment by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Every file that decides what coxswain does or that coxswain keeps for itself, apart from records. All are in the user's
 * state folder, so no repository can bring one along. `docs/configuration.md` shows this table.
 */
export const STATE_FILES = {
  faults: { name: 'faults.jsonl', holds: 'faults that the agent never noticed; `coxswain doctor` shows them' },
  olderFaults: { name: 'faults.1.jsonl', holds: 'the faults before those, once the log has reached 256 KB' },
  trust: { name: 'trusted.json', holds: 'the text of each configuration file that `coxswain trust` accepted' },
  initBackup: {
    name: 'init-claude-code.json',
    holds: 'the settings of every host as they were before `coxswain init`',
  },
  serveSettings: {
    name: 'serve.json',
    holds: 'port, token and program of the server that `coxswain init --http` set up',
  },
  serverRecord: { name: 'serve.pid', holds: 'the process that serves the project' },
  otlpInbox: { name: 'otlp.db', holds: 'spans that were acknowledged and are not recorded yet' },
  trimmed: { name: 'trimmed', holds: 'nothing; its time says when the store was last trimmed' },
  redactionKey: {
    name: 'redaction.key',
    holds: 'the key of the fingerprints in `[REDACTED:…]`; without it no secret can be guessed and tried',
  },
  fallbackStore: { name: 'runs.db', holds: 'the runs recorded while the project’s `.coxswain` is refused' },
} as const;

/** The name of a control file. */
export type StateFile = keyof typeof STATE_FILES;

/** Where the user's state folder is looked for. */
export interface StatePlaces {
  /** `XDG_STATE_HOME`, `HOME` and `LOCALAPPDATA` are read. */
  readonly env: Environment;
  /** Default: `HOME`, else `os.homedir()`. */
  readonly homeFolder?: string | undefined;
}

/** Whose control files: those of a project, or without one, the user's. */
export interface StateOwner extends StatePlaces {
  /** Absolute. Undefined: the user's own. */
  readonly projectFolder?: string | undefined;
}

/**
 * The folder of all state: `coxswain` in `$XDG_STATE_HOME` if that is absolute, else in `~/.local/state`; on Windows in
 * `%LOCALAPPDATA%`.
 */
export function stateRoot({ env, homeFolder }: StatePlaces): string {
  const bases = [env['XDG_STATE_HOME'], ...(process.platform === 'win32' ? [env['LOCALAPPDATA']] : [])];
  const base = bases.find((folder) => folder !== undefined && isAbsolute(folder));
  if (base !== undefined) return join(base, 'coxswain');
  const { HOME } = env;
  const isPlain = process.platform !== 'win32' && HOME !== undefined && isAbsolute(HOME);
  // Not imported: `HOME` alone says it to most hooks.
  const home = homeFolder ?? (isPlain ? HOME : process.getBuiltinModule('node:os').homedir());
  return join(home, '.local', 'state', 'coxswain');
}

/**
 * The folder of what can be made again at any time: `coxswain` in `$XDG_CACHE_HOME` if that is absolute, else in `~/.cache`; on Windows
 * in `%LOCALAPPDATA%`.
 */
export function cacheRoot({ env, homeFolder }: StatePlaces): string {
  const cache = env['XDG_CACHE_HOME'];
  if (cache !== undefined && isAbsolute(cache)) return join(cache, 'coxswain');
  const state = stateRoot({ env: { ...env, XDG_STATE_HOME: undefined }, homeFolder });
  return process.platform === 'win32'
    ? join(state, 'cache')
    : join(dirname(dirname(dirname(state))), '.cache', 'coxswain');
}

/** The folder of a project's control files, or of the user's. Need not be there. */
export function stateFolder(owner: StateOwner): string {
  const root = stateRoot(owner);
  return owner.projectFolder === undefined ? root : folderOfProject(root, realProject(owner.projectFolder));
}

/** The path of a control file. Need not be there. */
export function stateFile(name: StateFile, owner: StateOwner): string {
  return join(stateFolder(owner), STATE_FILES[name].name);
}

/** Makes the folder of the control files (0700). @throws CoxswainError as `makeOwnFolder` */
export function makeStateFolder(owner: StateOwner): string {
  const folder = stateFolder(owner);
  makeOwnFolder(stateRoot(owner), folder);
  return folder;
}

/** The real path of a project; the path itself where nothing is there. */
export function realProject(projectFolder: string): string {
  try {
    return realpathSync.native(projectFolder);
  } catch {
    return projectFolder;
  }
}

/**
 * The folder of the control files of a project, named by its real path: 128 bits. Not a cryptographic hash, because loading one takes a hook 6 ms; whoever could
 * choose the path of another project of the same user needs no collision.
 */
export function folderOfProject(root: string, real: string): string {
  return join(root, 'projects', hashText(real) + hashText(real, 1));
}
