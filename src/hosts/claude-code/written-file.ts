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

import { present } from '../../base/present.ts';
import { CoxswainError, messageOf } from '../../base/error.ts';
import { insideFolder } from '../../base/guarded-file.ts';

/** Settings are a few kilobytes. */
const MAX_BYTES = 16 * 1024 * 1024;

/** A small file that somebody else owns, such as settings, as it stands. */
export interface FoundFile {
  /** Where it really lies: behind links. */
  readonly path: string;
  readonly bytes: Buffer;
}

/**
 * Reads a regular file of 16 MiB at most whole.
 *
 * @returns undefined where there is none
 * @throws CoxswainError `input-io` where it cannot be read
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

/** Opened without waiting: a pipe that nothing is written to would hold this process for ever. */
function readSmallFile(path: string): Buffer {
  // Windows has no such flag, and no such pipes in its folders.
  const descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const facts = fstatSync(descriptor);
    if (!facts.isFile()) throw new Error('it is no regular file');
    if (facts.size > MAX_BYTES) throw new Error(`it has ${facts.size} bytes, more than ${MAX_BYTES}`);
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** How a file is replaced. */
export interface ReplaceFileOptions {
  /** The mode that it gets in place of its own. */
  readonly mode?: number | undefined;
  /** Below this folder no link is followed: a repository may have brought it along. Undefined: the file is the user's own. */
  readonly within?: string | undefined;
}

/**
 * Writes a file whole or not at all, and keeps its mode. A link to a file of the user's own stays one: what it points to is
 * written.
 *
 * @returns the topmost folder that had to be made for it
 * @throws CoxswainError `unsafe-path` as `insideFolder`, `input-io` where it is read-only or cannot be written
 */
export function replaceFile(file: string, bytes: Uint8Array, options: ReplaceFileOptions = {}): string | undefined {
  const { mode: wantedMode, within } = options;
  if (within !== undefined) insideFolder(within, file);
  try {
    const path = lstatSync(file, { throwIfNoEntry: false }) === undefined ? file : realpathSync(file);
    const mode = statSync(path, { throwIfNoEntry: false })?.mode;
    // A superuser may write it all the same; who made it so did not mean it to change.
    if (mode !== undefined && (mode & 0o200) === 0) throw new Error('it is read-only');
    const made = mkdirSync(dirname(path), { recursive: true });
    const unfinished = `${path}.${process.pid}.tmp`;
    try {
      const after = wantedMode ?? mode;
      writeFileSync(unfinished, bytes, { flag: 'wx', ...present({ mode: wantedMode }) });
      if (after !== undefined) chmodSync(unfinished, after & 0o777);
      renameSync(unfinished, path);
    } finally {
      rmSync(unfinished, { force: true });
    }
    return made;
  } catch (error) {
    throw new CoxswainError('input-io', `${file} cannot be written: ${messageOf(error)}`, { cause: error });
  }
}
