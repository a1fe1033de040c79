import { basename, resolve } from 'node:path';

import { CoxswainError, messageOf } from '../../core/base/error.ts';
import { realPlace, type StatePlaces } from '../../core/node/state-places.ts';
import { readConfigFile } from './config-sources.ts';
import { factsOf, findProject, userFolders, type ConfigPlaces } from './find-config.ts';
import { readAllTrust, removeTrust, trusts, writeTrust, type TrustedFile } from './trust.ts';

export interface TrustedProject {
  /** The real path of the project. */
  readonly folder: string;
  readonly files: readonly string[];
}

/** A trusted project and the current state of the trust. Plain JSON. */
export interface TrustState {
  readonly folder: string;
  readonly files: readonly string[];
  /** `changed`: a file was changed or added. `gone`: the folder does not exist. */
  readonly state: 'trusted' | 'changed' | 'gone';
}

/** @throws CoxswainError "input-io" if there is no folder or no configuration, or a file cannot be read or written */
export function trustProject(folder: string, places: ConfigPlaces = {}): TrustedProject {
  const { real, files } = projectAt(folder);
  // A file that is added revokes the trust.
  if (files.length === 0)
    throw new CoxswainError('input-io', `${real} has no configuration to trust`, { details: { folder } });
  writeTrust(real, files, statePlaces(places));
  return { folder: real, files: files.map(({ file }) => basename(file)) };
}

/** Undefined if it was not trusted. Throws CoxswainError "input-io" if the trust file cannot be read or written. */
export function revokeTrust(folder: string, places: ConfigPlaces = {}): string | undefined {
  const state = statePlaces(places);
  const path = resolve(folder);
  // A deleted folder has no real path. Its trust must still be removable.
  return [realPlace(findProject(path).folder), realPlace(path)].find((realFolder) => removeTrust(realFolder, state));
}

/** Returns every trusted project. Throws CoxswainError "input-io" if a trust file cannot be read. */
export function listTrust(places: ConfigPlaces = {}): readonly TrustState[] {
  return readAllTrust(statePlaces(places)).map((trustedFiles) => {
    const { folder } = trustedFiles;
    const files = Object.keys(trustedFiles.files);
    if (factsOf(folder) === undefined) return { folder, files, state: 'gone' };
    return { folder, files, state: trusts(trustedFiles, filesIn(folder)) ? 'trusted' : 'changed' };
  });
}

function statePlaces(places: ConfigPlaces): StatePlaces {
  return { env: places.env ?? process.env, homeFolder: userFolders(places).home };
}

function projectAt(folder: string): { readonly real: string; readonly files: readonly TrustedFile[] } {
  const path = resolve(folder);
  if (factsOf(path)?.isDirectory() !== true) {
    throw new CoxswainError('input-io', `${folder}: there is no such folder`, { details: { folder } });
  }
  const project = findProject(path);
  return { real: realPlace(project.folder), files: readAll(project.files) };
}

/** Returns the configuration files of a folder. Unreadable files count as changed. */
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
