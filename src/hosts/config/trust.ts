import { readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';

import { CoxswainError, messageOf } from '../../core/base/error.ts';
import { readGuarded, replaceGuarded } from '../../core/node/guarded-file.ts';
import { isJsonObject } from '../../core/base/json.ts';
import {
  makeStateFolder,
  realPlace,
  STATE_FILES,
  stateFile,
  stateFolder,
  type StatePlaces,
} from '../../core/node/state-places.ts';

export interface TrustedFiles {
  readonly folder: string;
  readonly files: Readonly<Record<string, string>>;
}

export interface TrustedFile {
  /** The path of the file. Only its name is stored. */
  readonly file: string;
  readonly text: string;
}

const VERSION = 2;

export function trustFile(folder: string, places: StatePlaces): string {
  return stateFile('trust', { ...places, projectFolder: folder });
}

/** `folder`: any path to the project. Throws CoxswainError "input-io" if it cannot be read or is not by `writeTrust`. */
export function readTrust(folder: string, places: StatePlaces): TrustedFiles | undefined {
  const trustedFiles = readTrustFile(trustFile(folder, places));
  // The folder differs if two paths have the same key, or if the trust file was moved.
  return trustedFiles?.folder === realPlace(folder) ? trustedFiles : undefined;
}

/** Returns every trusted project, by path. Throws CoxswainError "input-io" for an unreadable or damaged trust file. */
export function readAllTrust(places: StatePlaces): readonly TrustedFiles[] {
  const folder = join(stateFolder(places), 'projects');
  let names: readonly string[];
  try {
    names = readdirSync(folder);
  } catch {
    // The folder does not exist, because no project was ever trusted.
    return [];
  }
  const trustFiles = names.map((name) => readTrustFile(join(folder, name, STATE_FILES.trust.name)));
  return trustFiles
    .filter((trusted) => trusted !== undefined)
    .toSorted((a, b) => (a.folder < b.folder ? -1 : a.folder > b.folder ? 1 : 0));
}

function readTrustFile(path: string): TrustedFiles | undefined {
  try {
    const bytes = readGuarded(path);
    if (bytes === undefined) return undefined;
    const parsed: unknown = JSON.parse(bytes.toString('utf8'));
    if (isJsonObject(parsed) && parsed['version'] === VERSION && isTrusted(parsed)) return parsed;
    throw new Error('it was not written by coxswain');
  } catch (cause) {
    const message = `${path} cannot be read: ${messageOf(cause)}; delete it and run coxswain trust again`;
    throw new CoxswainError('input-io', message, { details: { path }, cause });
  }
}

function isTrusted(
  value: Readonly<Record<string, unknown>>,
): value is Readonly<Record<string, unknown>> & TrustedFiles {
  const { folder, files } = value;
  return (
    typeof folder === 'string' && isJsonObject(files) && Object.values(files).every((text) => typeof text === 'string')
  );
}

/** Only the owner can read the trust file. Throws CoxswainError "input-io" if it cannot be written. */
export function writeTrust(folder: string, files: readonly TrustedFile[], places: StatePlaces): void {
  const path = trustFile(folder, places);
  const texts = Object.fromEntries(files.map(({ file, text }) => [basename(file), text]));
  const json = JSON.stringify({ version: VERSION, folder: realPlace(folder), files: texts }, undefined, 2);
  try {
    makeStateFolder({ ...places, projectFolder: folder });
    replaceGuarded(path, `${json}\n`);
  } catch (cause) {
    throw new CoxswainError('input-io', `${path} cannot be written: ${messageOf(cause)}`, { details: { path }, cause });
  }
}

/** Revokes the trust in a project. Returns false if the project was not trusted. */
export function removeTrust(folder: string, places: StatePlaces): boolean {
  if (readTrust(folder, places) === undefined) return false;
  rmSync(trustFile(folder, places), { force: true });
  return true;
}

/** A changed or new file revokes the trust. Texts are compared, because loading a hash function takes a hook 6 ms. */
export function trusts(trustedFiles: TrustedFiles | undefined, files: readonly TrustedFile[]): boolean {
  if (trustedFiles === undefined) return false;
  return files.every(({ file, text }) => {
    const name = basename(file);
    return Object.hasOwn(trustedFiles.files, name) && trustedFiles.files[name] === text;
  });
}
