import { basename, resolve } from 'node:path';

import { CoxswainError, messageOf } from '../base/error.ts';
import { memberAt } from '../base/json.ts';
import { realProject, type StatePlaces } from '../base/state-places.ts';
import { readConfigFile } from './config-sources.ts';
import { readConfigText } from './decode-config.ts';
import { factsOf, findProject, userFolders, type ConfigPlaces } from './find-config.ts';
import { trustOf } from './field-trust.ts';
import { realPath } from '../store/git-index.ts';
import { loadConfigSync } from './load-config.ts';
import type { IgnoredField } from './loaded-config.ts';
import { readAllTrust, removeTrust, trusts, writeTrust, type TrustedFile } from './trust.ts';

/** A project that is trusted now. Plain JSON. */
export interface TrustedProject {
  /** Its real path. */
  readonly folder: string;
  /** Names of the files that were looked at; empty where the project has no configuration. */
  readonly files: readonly string[];
  /** What did not count before. */
  readonly counts: readonly CountingField[];
}

/** A field that counts now. */
export interface CountingField {
  /** Such as `completion.command`; a file's name for its code. */
  readonly path: string;
  /** What it says; absent for code. Keys of redaction are not shown. */
  readonly value?: unknown;
}

/** A project that somebody trusted, and whether that still holds. Plain JSON. */
export interface TrustState {
  readonly folder: string;
  readonly files: readonly string[];
  /** `changed`: a file is another one, or a new one is there; `gone`: the folder is not there. */
  readonly state: 'trusted' | 'changed' | 'gone';
}

/**
 * Trusts a project with the configuration files that it has now. The text that is trusted is the text that was read.
 *
 * @param folder where the project's files are looked for, as by `loadConfig`
 * @throws CoxswainError "input-io" when the folder is not there, or a file cannot be read or written
 */
export function trustProject(folder: string, places: ConfigPlaces = {}): TrustedProject {
  const { real, files } = projectAt(folder);
  const { ignored } = loadConfigSync({ ...places, projectFolder: resolve(folder) });
  writeTrust(real, files, statePlaces(places));
  return {
    folder: real,
    files: files.map(({ file }) => basename(file)),
    counts: ignored.filter(({ path }) => trustOf(path)?.needs !== 'own').map((one) => counting(one, files)),
  };
}

function counting({ path, file }: IgnoredField, files: readonly TrustedFile[]): CountingField {
  if (path === '') return { path: basename(file) };
  const text = files.find((one) => one.file === file)?.text;
  // A link in the place of the store is in no file.
  if (text === undefined) return { path, value: file };
  return path === 'redaction.key' ? { path } : { path, value: memberAt(readConfigText(text).config, path.split('.')) };
}

/**
 * Takes trust back.
 *
 * @returns the folder whose trust was taken back; undefined when nobody trusted it
 * @throws CoxswainError "input-io" when the file of trust cannot be read or written
 */
export function revokeTrust(folder: string, places: ConfigPlaces = {}): string | undefined {
  const state = statePlaces(places);
  const given = resolve(folder);
  // A folder that is gone has no real path, and its entry must go all the same.
  return [realProject(findProject(given).folder), realProject(given)].find((path) => removeTrust(path, state));
}

/** Every project that is trusted. @throws CoxswainError "input-io" when the file of trust cannot be read */
export function listTrust(places: ConfigPlaces = {}): readonly TrustState[] {
  return readAllTrust(statePlaces(places)).map((trusted) => {
    const { folder } = trusted;
    const files = Object.keys(trusted.files);
    if (factsOf(folder) === undefined) return { folder, files, state: 'gone' };
    return { folder, files, state: trusts(trusted, filesIn(folder)) ? 'trusted' : 'changed' };
  });
}

function statePlaces(places: ConfigPlaces): StatePlaces {
  return { env: places.env ?? process.env, homeFolder: userFolders(places).home };
}

function projectAt(folder: string): { readonly real: string; readonly files: readonly TrustedFile[] } {
  const given = resolve(folder);
  if (factsOf(given)?.isDirectory() !== true) {
    throw new CoxswainError('input-io', `${folder}: there is no such folder`, { details: { folder } });
  }
  const found = findProject(given);
  return { real: realPath(found.folder) ?? found.folder, files: readAll(found.files) };
}

/** The files of a folder that can be read; a change that cannot be seen must not pass for none. */
function filesIn(folder: string): readonly TrustedFile[] {
  const { folder: found, files } = findProject(folder);
  try {
    return found === folder ? readAll(files) : [];
  } catch {
    return files.map((file) => ({ file, text: '' }));
  }
}

function readAll(files: readonly string[]): readonly TrustedFile[] {
  return files.map((file) => {
    try {
      return { file, text: readConfigFile(file) };
    } catch (cause) {
      throw new CoxswainError('input-io', `${file} cannot be read: ${messageOf(cause)}`, { details: { file }, cause });
    }
  });
}
