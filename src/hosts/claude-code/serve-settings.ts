import { rmSync, statSync } from 'node:fs';

import { CoxswainError, messageOf } from '../../base/error.ts';
import { readGuarded, replaceGuarded } from '../../base/guarded-file.ts';
import { isJsonObject } from '../../base/json.ts';
import { makeStateFolder, stateFile, type Environment } from '../../base/state-places.ts';

/** Where the server of a project is, and who may speak to it. */
export interface ServeSettings {
  /** On the loopback interface. */
  readonly port: number;
  /** What every request must bring: a secret of the user's own. */
  readonly token: string;
  /** What starts the command line of coxswain: Node and the program, by absolute path. */
  readonly program: readonly string[];
}

/** Where the settings of a project's server are: in the user's state folder, for this user only. */
export function serveFileOf(projectFolder: string, env: Environment = process.env): string {
  return stateFile('serveSettings', { env, projectFolder });
}

/**
 * Reads the settings of a project's server.
 *
 * @returns undefined where the project has none
 * @throws CoxswainError `input-io` where they are damaged or cannot be read, or anyone but this user may read them or has
 *   written them: what they name is run, and the token is no secret then
 */
export function readServeSettings(projectFolder: string, env: Environment = process.env): ServeSettings | undefined {
  const file = serveFileOf(projectFolder, env);
  let json: unknown;
  try {
    const bytes = readGuarded(file);
    if (bytes === undefined) return undefined;
    const isSecret = process.platform === 'win32' || (statSync(file).mode & 0o077) === 0;
    if (!isSecret) throw new Error('others may read it');
    json = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw refused(file, messageOf(error));
  }
  if (!isSettings(json)) throw refused(file, 'it has another form');
  return json;
}

/** Writes them, for their owner only. @throws CoxswainError `input-io` where that is not possible */
export function writeServeSettings(projectFolder: string, { port, token, program }: ServeSettings): void {
  const file = serveFileOf(projectFolder);
  try {
    makeStateFolder({ env: process.env, projectFolder });
    replaceGuarded(file, `${JSON.stringify({ port, token, program }, undefined, 2)}\n`);
  } catch (error) {
    throw new CoxswainError('input-io', `${file} cannot be written: ${messageOf(error)}`, { cause: error });
  }
}

/** Takes them away, if there are any. */
export function removeServeSettings(projectFolder: string): void {
  rmSync(serveFileOf(projectFolder), { force: true });
}

function isSettings(value: unknown): value is ServeSettings {
  if (!isJsonObject(value)) return false;
  const { port, token, program } = value;
  const isProgram = Array.isArray(program) && program.length > 0 && program.every((word) => typeof word === 'string');
  return Number.isInteger(port) && typeof token === 'string' && token.length >= 32 && isProgram;
}

function refused(file: string, why: string): CoxswainError {
  return new CoxswainError(
    'input-io',
    `${file} does not count: ${why}; remove it, then run coxswain init claude-code --http again`,
    { details: { file } },
  );
}
