import { chmodSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { CoxswainError, messageOf } from '../base/error.ts';
import { isJsonObject } from '../base/json.ts';
import { keepOutOfGit, STATE_FOLDER } from './open-hook-store.ts';
import { findFile, replaceFile } from './written-file.ts';

/** Where the server of a project is, and who may speak to it. */
export interface ServeSettings {
  /** On the loopback interface. */
  readonly port: number;
  /** What every request must bring: a secret of the user's own. */
  readonly token: string;
  /** What starts the command line of coxswain: Node and the program, by absolute path. */
  readonly program: readonly string[];
}

/** Where the settings of a project's server are: for their owner only, in the folder that keeps itself out of git. */
export function serveFileOf(projectFolder: string): string {
  return join(projectFolder, STATE_FOLDER, 'serve.json');
}

/**
 * Reads the settings of a project's server.
 *
 * @returns undefined where the project has none
 * @throws CoxswainError `input-io` where they are damaged or cannot be read, or anyone but this user may read them or has
 *   written them: what they name is run, and the token is no secret then
 */
export function readServeSettings(projectFolder: string): ServeSettings | undefined {
  const file = serveFileOf(projectFolder);
  const found = findFile(file);
  if (found === undefined) return undefined;
  const { mode, uid } = statSync(found.path);
  const isOwn = process.getuid === undefined || (uid === process.getuid() && (mode & 0o077) === 0);
  if (!isOwn) throw refused(file, 'others may read it, or have written it');
  let json: unknown;
  try {
    json = JSON.parse(found.bytes.toString('utf8'));
  } catch (error) {
    throw refused(file, messageOf(error));
  }
  if (!isSettings(json)) throw refused(file, 'it has another form');
  return json;
}

/** Writes them, for their owner only. @throws CoxswainError `input-io` where that is not possible */
export function writeServeSettings(projectFolder: string, { port, token, program }: ServeSettings): void {
  const file = serveFileOf(projectFolder);
  keepOutOfGit(dirname(file));
  replaceFile(file, Buffer.from(`${JSON.stringify({ port, token, program }, undefined, 2)}\n`, 'utf8'), 0o600);
  chmodSync(dirname(file), 0o700);
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
