import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';

import { present } from '../base/present.ts';
import { CoxswainError, messageOf } from '../base/error.ts';
import { requireInside } from './guarded-file.ts';

/** Maximum file size. Settings are a few kilobytes. */
const MAX_BYTES = 16 * 1024 * 1024;

/** A small file that another program owns, such as settings. */
export interface FoundFile {
  /** Path with links resolved. */
  readonly path: string;
  readonly bytes: Buffer;
}

/**
 * Reads a regular file of at most 16 MiB.
 *
 * @returns undefined if it does not exist
 * @throws CoxswainError `input-io` if it cannot be read
 */
export function findFile(file: string): FoundFile | undefined {
  try {
    if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return undefined;
    const path = realpathSync(file);
    return { path, bytes: readSmallFile(path) };
  } catch (error) {
    throw new CoxswainError('input-io', `${file} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

/** Opens the file without blocking, because opening a named pipe would block for ever. */
function readSmallFile(path: string): Buffer {
  // Windows supports neither the flag nor such pipes.
  const descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const facts = fstatSync(descriptor);
    if (!facts.isFile()) throw new Error('it is not a regular file');
    if (facts.size > MAX_BYTES) throw new Error(`it has ${facts.size} bytes, more than ${MAX_BYTES}`);
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

export interface ReplaceFileOptions {
  /** File mode. Default: the mode of the existing file. */
  readonly mode?: number | undefined;
  /** No link is followed below this folder, because a repository may contain links. Undefined for the user's own files. */
  readonly within?: string | undefined;
}

/**
 * Writes a file atomically. If the path of a user's file is a link, the link is kept and its target is written.
 *
 * @returns the topmost folder that was created
 * @throws CoxswainError `unsafe-path` as `requireInside`, `input-io` if the file is read-only or cannot be written
 */
export function replaceFile(file: string, bytes: Uint8Array, options: ReplaceFileOptions = {}): string | undefined {
  const { mode: wantedMode, within } = options;
  if (within !== undefined) requireInside(within, file);
  try {
    const path = lstatSync(file, { throwIfNoEntry: false }) === undefined ? file : realpathSync(file);
    const mode = statSync(path, { throwIfNoEntry: false })?.mode;
    // A superuser could write the file, but its owner has made it read-only.
    if (mode !== undefined && (mode & 0o200) === 0) throw new Error('it is read-only');
    const createdFolder = mkdirSync(dirname(path), { recursive: true });
    const temporaryPath = `${path}.${process.pid}.tmp`;
    try {
      const finalMode = wantedMode ?? mode;
      writeFileSync(temporaryPath, bytes, { flag: 'wx', ...present({ mode: wantedMode }) });
      if (finalMode !== undefined) chmodSync(temporaryPath, finalMode & 0o777);
      renameSync(temporaryPath, path);
    } finally {
      rmSync(temporaryPath, { force: true });
    }
    return createdFolder;
  } catch (error) {
    throw new CoxswainError('input-io', `${file} cannot be written: ${messageOf(error)}`, { cause: error });
  }
}
