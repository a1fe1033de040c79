import { readdirSync, realpathSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

import { hashText } from '../base/hash.ts';
import { makeOwnFolder } from './guarded-file.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** In the user's state folder, so that no repository can contain one. `docs/configuration.md` has this table. */
export const STATE_FILES = {
  faults: { name: 'faults.jsonl', holds: 'faults that the agent never noticed; `coxswain doctor` shows them' },
  olderFaults: { name: 'faults.1.jsonl', holds: 'the faults before those, once the log has reached 256 KB' },
  fullDiskFaults: {
    name: 'faults-on-full-disk',
    holds: 'the faults that found no room in the log, as names of empty files; the next fault moves them to the log',
  },
  trust: { name: 'trusted.json', holds: 'the text of each configuration file that `coxswain trust` accepted' },
  initBackup: {
    name: 'init-claude-code.json',
    holds: 'the settings of every host as they were before `coxswain init`',
  },
  otlpToken: { name: 'otlp.token', holds: 'the token that exporters of OpenTelemetry send' },
  otlpInbox: { name: 'otlp.db', holds: 'spans that were acknowledged and are not recorded yet' },
  lastReport: { name: 'last-report.json', holds: 'the runs that the last report numbered, for `coxswain NUMBER`' },
  watch: { name: 'watch.json', holds: 'the process of `coxswain watch --background`, and what it told' },
  lessons: { name: 'lessons.json', holds: 'what keeps failing in the project, for `guidance.lessonGuidance`' },
  toldRuns: {
    name: 'told-runs.json',
    holds: 'the runs that notifications and the pages of sessions named, for `coxswain show ID`',
  },
  redactionKey: {
    name: 'redaction.key',
    holds: 'the key of the fingerprints in `[REDACTED:…]`; without it no secret can be guessed and tried',
  },
} as const;

export type StateFile = keyof typeof STATE_FILES;

export interface StatePlaces {
  /** The code reads `XDG_STATE_HOME`, `XDG_DATA_HOME`, `XDG_CACHE_HOME`, `HOME` and `LOCALAPPDATA`. */
  readonly env: Environment;
  /** Default: `HOME`, else `os.homedir()`. */
  readonly homeFolder?: string | undefined;
}

export interface StateOwner extends StatePlaces {
  /** The absolute path of the project. Undefined selects the user's own control files. */
  readonly projectFolder?: string | undefined;
}

/** `coxswain` in `$XDG_STATE_HOME` if that is absolute, else in `~/.local/state`; on Windows in `%LOCALAPPDATA%`. */
export function stateRoot(places: StatePlaces): string {
  return rootOf(places, 'XDG_STATE_HOME', '.local/state', '');
}

/** Returns the folder of records: `coxswain` in `$XDG_DATA_HOME`, else in `~/.local/share`. On Windows, `data` in the state folder. */
export function dataRoot(places: StatePlaces): string {
  return rootOf(places, 'XDG_DATA_HOME', '.local/share', 'data');
}

/** Returns the cache folder: `coxswain` in `$XDG_CACHE_HOME`, else in `~/.cache`. On Windows, `cache` in the state folder. */
export function cacheRoot(places: StatePlaces): string {
  return rootOf(places, 'XDG_CACHE_HOME', '.cache', 'cache');
}

function rootOf({ env, homeFolder }: StatePlaces, variable: string, folder: string, onWindows: string): string {
  const base = env[variable];
  if (base !== undefined && isAbsolute(base)) return join(base, 'coxswain');
  const local = env['LOCALAPPDATA'];
  if (process.platform === 'win32' && local !== undefined && isAbsolute(local))
    return join(local, 'coxswain', onWindows);
  const { HOME } = env;
  const isPlain = process.platform !== 'win32' && HOME !== undefined && isAbsolute(HOME);
  return join(homeFolder ?? (isPlain ? HOME : homeOfUser()), folder, 'coxswain');
}

/** The home folder of the system, also if `HOME` is empty or relative: a relative one would be in a project. */
function homeOfUser(): string {
  // The module is not imported statically, because `HOME` is set for most hooks.
  const { homedir, userInfo } = process.getBuiltinModule('node:os');
  const home = homedir();
  return isAbsolute(home) ? home : userInfo().homedir;
}

export function stateFolder(owner: StateOwner): string {
  const root = stateRoot(owner);
  return owner.projectFolder === undefined ? root : folderOfProject(root, realPlace(owner.projectFolder));
}

export function stateFile(name: StateFile, owner: StateOwner): string {
  return join(stateFolder(owner), STATE_FILES[name].name);
}

/** Creates the folder of an owner's control files with mode 0700. Throws CoxswainError as `makeOwnFolder`. */
export function makeStateFolder(owner: StateOwner): string {
  const folder = stateFolder(owner);
  makeOwnFolder(stateRoot(owner), folder);
  return folder;
}

/** Resolves the links in a path; a path that does not exist stays. */
export function realPlace(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

/** The sorted names in a folder; none if it does not exist or is not readable. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return [];
  }
}

/** 128 bits of the project's real path; not cryptographic, which takes a hook 6 ms and protects nothing here. */
function folderOfProject(root: string, real: string): string {
  return join(root, 'projects', hashText(real) + hashText(real, 1));
}
