import { rmSync, statSync } from 'node:fs';

import { CoxswainError, messageOf } from '../../core/base/error.ts';
import { readGuarded, replaceGuarded } from '../../core/node/guarded-file.ts';
import { isJsonObject } from '../../core/base/json.ts';
import { makeStateFolder, stateFile, type Environment } from '../../core/node/state-places.ts';

/** Port and token of a project's server, and the command of the CLI. */
export interface ServeSettings {
  /** Port on the loopback interface. */
  readonly port: number;
  /** Token that every request must contain. It is a secret of the user. */
  readonly token: string;
  /** The command that starts the coxswain CLI. It contains the absolute paths of Node and the program. */
  readonly program: readonly string[];
}

/** Path of the settings file of a project's server. The file is in the user's state folder. */
export function serveFileOf(projectFolder: string, env: Environment = process.env): string {
  return stateFile('serveSettings', { env, projectFolder });
}

/**
 * Reads the settings of a project's server.
 *
 * @returns undefined if the project has none
 * @throws CoxswainError `input-io` if the file is damaged or unreadable, or if another user could have read or written it. The
 * file contains a secret and names a program to run
 */
export function readServeSettings(projectFolder: string, env: Environment = process.env): ServeSettings | undefined {
  const file = serveFileOf(projectFolder, env);
  let json: unknown;
  try {
    const bytes = readGuarded(file);
    if (bytes === undefined) return undefined;
    const isSecret = process.platform === 'win32' || (statSync(file).mode & 0o077) === 0;
    if (!isSecret) throw new Error('other users can read it');
    json = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw refusedSettings(file, messageOf(error));
  }
  if (!isSettings(json)) throw refusedSettings(file, 'its content has an unexpected shape');
  return json;
}

/**
 * Writes the settings. Only their owner can read the file.
 *
 * @throws CoxswainError `input-io`
 */
export function writeServeSettings(projectFolder: string, { port, token, program }: ServeSettings): void {
  const file = serveFileOf(projectFolder);
  try {
    makeStateFolder({ env: process.env, projectFolder });
    replaceGuarded(file, `${JSON.stringify({ port, token, program }, undefined, 2)}\n`);
  } catch (error) {
    throw new CoxswainError('input-io', `${file} cannot be written: ${messageOf(error)}`, { cause: error });
  }
}

export function removeServeSettings(projectFolder: string): void {
  rmSync(serveFileOf(projectFolder), { force: true });
}

function isSettings(value: unknown): value is ServeSettings {
  if (!isJsonObject(value)) return false;
  const { port, token, program } = value;
  const isProgram = Array.isArray(program) && program.length > 0 && program.every((word) => typeof word === 'string');
  return Number.isInteger(port) && typeof token === 'string' && token.length >= 32 && isProgram;
}

function refusedSettings(file: string, reason: string): CoxswainError {
  return new CoxswainError(
    'input-io',
    `${file} is ignored: ${reason}; remove it, then run coxswain init claude-code --http again`,
    { details: { file } },
  );
}
