import { readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';

import { CoxswainError, messageOf } from '../base/error.ts';
import { readGuarded, replaceGuarded } from '../base/guarded-file.ts';
import { isJsonObject } from '../base/json.ts';
import {
  makeStateFolder,
  realProject,
  STATE_FILES,
  stateFile,
  stateFolder,
  type StatePlaces,
} from '../base/state-places.ts';

/** A project whose configuration the user accepted. Plain JSON. */
export interface TrustedFiles {
  /** The real path of the project. */
  readonly folder: string;
  /** The text of each file that was accepted, by its name. */
  readonly files: Readonly<Record<string, string>>;
}

/** A file's name and text. */
export interface TrustedFile {
  /** Its path; the name at its end is what is remembered. */
  readonly file: string;
  readonly text: string;
}

const VERSION = 2;

/** The file that holds what is trusted of a project, in the user's state folder. */
export function trustFile(folder: string, places: StatePlaces): string {
  return stateFile('trust', { ...places, projectFolder: folder });
}

/**
 * What is trusted of a project.
 *
 * @param folder  any path to the project
 * @returns undefined for a project that is not trusted
 * @throws CoxswainError "input-io" when the file cannot be read or is not what `writeTrust` wrote
 */
export function readTrust(folder: string, places: StatePlaces): TrustedFiles | undefined {
  const trusted = readTrustFile(trustFile(folder, places));
  // Two paths with one key, or a file that was moved.
  return trusted?.folder === realProject(folder) ? trusted : undefined;
}

/** Every project that is trusted, by its path. Damaged files are left out. @throws CoxswainError "input-io" */
export function readAllTrust(places: StatePlaces): readonly TrustedFiles[] {
  const folder = join(stateFolder(places), 'projects');
  let names: readonly string[];
  try {
    names = readdirSync(folder);
  } catch {
    // Nothing was ever trusted here.
    return [];
  }
  const found = names.map((name) => readTrustFile(join(folder, name, STATE_FILES.trust.name)));
  return found
    .filter((trusted) => trusted !== undefined)
    .toSorted((a, b) => (a.folder < b.folder ? -1 : a.folder > b.folder ? 1 : 0));
}

function readTrustFile(path: string): TrustedFiles | undefined {
  try {
    const bytes = readGuarded(path);
    if (bytes === undefined) return undefined;
    const parsed: unknown = JSON.parse(bytes.toString('utf8'));
    if (isJsonObject(parsed) && parsed['version'] === VERSION && isTrusted(parsed)) return parsed;
    throw new Error('it is not what coxswain writes there');
  } catch (cause) {
    throw new CoxswainError(
      'input-io',
      `${path} cannot be read: ${messageOf(cause)}; delete it and run coxswain trust again`,
      { details: { path }, cause },
    );
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

/**
 * Trusts a project with these files, in place of what was trusted before. The file is for its owner only.
 *
 * @throws CoxswainError "input-io" when it cannot be written
 */
export function writeTrust(folder: string, files: readonly TrustedFile[], places: StatePlaces): void {
  const path = trustFile(folder, places);
  const texts = Object.fromEntries(files.map(({ file, text }) => [basename(file), text]));
  const json = JSON.stringify({ version: VERSION, folder: realProject(folder), files: texts }, undefined, 2);
  try {
    makeStateFolder({ ...places, projectFolder: folder });
    replaceGuarded(path, `${json}\n`);
  } catch (cause) {
    throw new CoxswainError('input-io', `${path} cannot be written: ${messageOf(cause)}`, { details: { path }, cause });
  }
}

/** Takes trust back. @returns false when there was none */
export function removeTrust(folder: string, places: StatePlaces): boolean {
  if (readTrust(folder, places) === undefined) return false;
  rmSync(trustFile(folder, places), { force: true });
  return true;
}

/**
 * True when a project is trusted with just these files: a change of one, or a new one, withdraws it. Texts are compared, not
 * hashes: loading a hash takes a hook 6 ms.
 */
export function trusts(trusted: TrustedFiles | undefined, files: readonly TrustedFile[]): boolean {
  if (trusted === undefined) return false;
  return files.every(({ file, text }) => {
    const name = basename(file);
    return Object.hasOwn(trusted.files, name) && trusted.files[name] === text;
  });
}
