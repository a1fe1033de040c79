import { realpathSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';

import { hashText } from './hash.ts';
import { makeOwnFolder } from './guarded-file.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Every control file of coxswain, apart from records. All are in the user's state folder, so that no repository can contain
 * one. `docs/configuration.md` has this table.
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

export type StateFile = keyof typeof STATE_FILES;

/** Inputs for the location of the user's state folder. */
export interface StatePlaces {
  /** `XDG_STATE_HOME`, `HOME` and `LOCALAPPDATA` are read. */
  readonly env: Environment;
  /** Default: `HOME`, else `os.homedir()`. */
  readonly homeFolder?: string | undefined;
}

/** Owner of control files: a project, or the user. */
export interface StateOwner extends StatePlaces {
  /** Absolute. Undefined: the user's own. */
  readonly projectFolder?: string | undefined;
}

/**
 * The state folder: `coxswain` in `$XDG_STATE_HOME` if absolute, else in `~/.local/state`; on Windows in `%LOCALAPPDATA%`.
 */
export function stateRoot({ env, homeFolder }: StatePlaces): string {
  const bases = [env['XDG_STATE_HOME'], ...(process.platform === 'win32' ? [env['LOCALAPPDATA']] : [])];
  const base = bases.find((folder) => folder !== undefined && isAbsolute(folder));
  if (base !== undefined) return join(base, 'coxswain');
  const { HOME } = env;
  const isPlain = process.platform !== 'win32' && HOME !== undefined && isAbsolute(HOME);
  // Not imported, because most hooks have `HOME`.
  const home = homeFolder ?? (isPlain ? HOME : process.getBuiltinModule('node:os').homedir());
  return join(home, '.local', 'state', 'coxswain');
}

/**
 * The cache folder: `coxswain` in `$XDG_CACHE_HOME` if absolute, else in `~/.cache`; on Windows in `%LOCALAPPDATA%`.
 */
export function cacheRoot({ env, homeFolder }: StatePlaces): string {
  const cache = env['XDG_CACHE_HOME'];
  if (cache !== undefined && isAbsolute(cache)) return join(cache, 'coxswain');
  const state = stateRoot({ env: { ...env, XDG_STATE_HOME: undefined }, homeFolder });
  return process.platform === 'win32'
    ? join(state, 'cache')
    : join(dirname(dirname(dirname(state))), '.cache', 'coxswain');
}

/** The folder of an owner's control files. May be missing. */
export function stateFolder(owner: StateOwner): string {
  const root = stateRoot(owner);
  return owner.projectFolder === undefined ? root : folderOfProject(root, realProject(owner.projectFolder));
}

/** The path of a control file. May be missing. */
export function stateFile(name: StateFile, owner: StateOwner): string {
  return join(stateFolder(owner), STATE_FILES[name].name);
}

/** Creates the folder of an owner's control files (0700). @throws CoxswainError as `makeOwnFolder` */
export function makeStateFolder(owner: StateOwner): string {
  const folder = stateFolder(owner);
  makeOwnFolder(stateRoot(owner), folder);
  return folder;
}

/** The real path of a project; the path itself if it is missing. */
export function realProject(projectFolder: string): string {
  try {
    return realpathSync.native(projectFolder);
  } catch {
    return projectFolder;
  }
}

/**
 * The folder of a project's control files, named by a 128-bit hash of its real path. Not a cryptographic hash, because loading
 * one takes a hook 6 ms; an attacker who can choose the path of another project of this user needs no collision.
 */
export function folderOfProject(root: string, real: string): string {
  return join(root, 'projects', hashText(real) + hashText(real, 1));
}
