import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

import { CoxswainError, messageOf } from '../base/error.ts';
import { isJsonObject } from '../base/json.ts';
import { factsOf } from './find-config.ts';

/** What a user trusts: by the real path of a project, the hashes of its configuration files. Plain JSON. */
export interface TrustedProjects {
  readonly [folder: string]: Readonly<Record<string, string>>;
}

/** A file's name and text. */
export interface TrustedFile {
  /** Its path; the name at its end is what is remembered. */
  readonly file: string;
  readonly text: string;
}

const VERSION = 1;

/** The file that holds what is trusted, in the user's folder. */
export function trustFile(configFolder: string): string {
  return join(configFolder, 'trusted.json');
}

/**
 * What is trusted; nothing where the file is not there.
 *
 * @throws CoxswainError "input-io" when it cannot be read or is not what `writeTrust` wrote
 */
export function readTrust(configFolder: string): TrustedProjects {
  const path = trustFile(configFolder);
  if (factsOf(path) === undefined) return {};
  try {
    const parsed: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (isJsonObject(parsed) && parsed['version'] === VERSION && isTrusted(parsed['projects'])) {
      return parsed['projects'];
    }
    throw new Error('it is not what coxswain writes there');
  } catch (cause) {
    throw new CoxswainError(
      'input-io',
      `${path} cannot be read: ${messageOf(cause)}; delete it and run coxswain trust again`,
      { details: { path }, cause },
    );
  }
}

function isTrusted(value: unknown): value is TrustedProjects {
  return (
    isJsonObject(value) &&
    Object.values(value).every(
      (files) => isJsonObject(files) && Object.values(files).every((hash) => typeof hash === 'string'),
    )
  );
}

/**
 * Replaces what is trusted, in one step. The file is for its owner only.
 *
 * @throws CoxswainError "input-io" when it cannot be written
 */
export function writeTrust(configFolder: string, projects: TrustedProjects): void {
  const path = trustFile(configFolder);
  const fresh = `${path}.${process.pid}.new`;
  try {
    mkdirSync(configFolder, { recursive: true, mode: 0o700 });
    writeFileSync(fresh, `${JSON.stringify({ version: VERSION, projects }, undefined, 2)}\n`, { mode: 0o600 });
    renameSync(fresh, path);
  } catch (cause) {
    throw new CoxswainError('input-io', `${path} cannot be written: ${messageOf(cause)}`, { details: { path }, cause });
  }
}

/** What is remembered of a project's files when it is trusted. */
export function hashesOf(files: readonly TrustedFile[]): Readonly<Record<string, string>> {
  return Object.fromEntries(files.map(({ file, text }) => [basename(file), sha256(text)]));
}

/** True when a project is trusted with just these files: a change of one, or a new one, withdraws it. */
export function trusts(projects: TrustedProjects, folder: string, files: readonly TrustedFile[]): boolean {
  const known = Object.hasOwn(projects, folder) ? projects[folder] : undefined;
  if (known === undefined) return false;
  return Object.entries(hashesOf(files)).every(([name, hash]) => Object.hasOwn(known, name) && known[name] === hash);
}

function sha256(text: string): string {
  // Loaded only here: a hook without anything to trust does without it.
  return process.getBuiltinModule('node:crypto').hash('sha256', text);
}
