import {
  appendFileSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

import { CoxswainError, messageOf } from './error.ts';

// Windows has neither flag; its links need rights that a clone does not have.
const NO_FOLLOW = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** A control file is a page; a larger one was not written by us. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Why a file must not be read or written: it is a link, no regular file, has a second name (a hard link), or belongs to
 * another user.
 *
 * @returns undefined if nothing speaks against it
 */
export function faultOfFile(facts: Stats): string | undefined {
  if (facts.isSymbolicLink()) return 'it is a link';
  if (!facts.isFile()) return 'it is not a regular file';
  if (facts.nlink > 1) return 'it has a second name (a hard link)';
  return isOwn(facts) ? undefined : 'it belongs to another user';
}

/** Why a folder must not be used: it is a link, no folder, or belongs to another user. Undefined if nothing speaks against it. */
export function faultOfFolder(facts: Stats): string | undefined {
  if (facts.isSymbolicLink()) return 'it is a link';
  if (!facts.isDirectory()) return 'it is not a folder';
  return isOwn(facts) ? undefined : 'it belongs to another user';
}

/** Windows has no owner that Node could compare. */
function isOwn({ uid }: Stats): boolean {
  return process.getuid === undefined || uid === process.getuid();
}

/** @returns undefined where nothing is; a link is described, not followed */
export function lookAt(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

/** @throws CoxswainError "unsafe-path" */
export function unsafePath(path: string, why: string): CoxswainError {
  return new CoxswainError('unsafe-path', `${path} is neither read nor written: ${why}`, { details: { path, why } });
}

/** What may be read. */
export interface ReadOptions {
  /** Default 16 MB. */
  readonly maxBytes?: number;
  /** Whether others may write it, as in a project whose group works on it; default false. */
  readonly mayBeShared?: boolean;
}

/**
 * Reads a file of ours whole, without following a link.
 *
 * @returns undefined where there is none
 * @throws CoxswainError "unsafe-path" for a link, a hard link, another user's file, one that others may write, or one that
 *   is too large; what the file system refuses
 * Cost: open, look, read, close.
 */
export function readGuarded(path: string, options: ReadOptions = {}): Buffer | undefined {
  const { maxBytes = MAX_BYTES, mayBeShared = false } = options;
  const fd = openNoFollow(path, constants.O_RDONLY);
  if (fd === undefined) return undefined;
  try {
    const facts = fstatSync(fd);
    const fault =
      faultOfFile(facts) ??
      (facts.size > maxBytes ? `it has ${facts.size} bytes` : mayBeShared ? undefined : writableByOthers(facts));
    if (fault !== undefined) throw unsafePath(path, fault);
    // Not `readFileSync`, which looks at the file again: a hook reads several at each event.
    const bytes = Buffer.alloc(facts.size);
    const count = readSync(fd, bytes, 0, facts.size, 0);
    return count === facts.size ? bytes : bytes.subarray(0, count);
  } finally {
    closeSync(fd);
  }
}

function writableByOthers({ mode }: Stats): string | undefined {
  return process.platform !== 'win32' && (mode & 0o022) !== 0 ? 'others may write it' : undefined;
}

/**
 * Appends to a file of ours (0600), without following a link; makes it where it is missing.
 *
 * @throws CoxswainError "unsafe-path" as `readGuarded`; what the file system refuses
 */
export function appendGuarded(path: string, text: string): void {
  const fd = openNoFollow(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT);
  if (fd === undefined) throw unsafePath(path, 'its folder is not there');
  try {
    const fault = faultOfFile(fstatSync(fd));
    if (fault !== undefined) throw unsafePath(path, fault);
    appendFileSync(fd, text);
  } finally {
    closeSync(fd);
  }
}

/** @returns undefined where nothing is. @throws CoxswainError "unsafe-path" for a link */
function openNoFollow(path: string, flags: number): number | undefined {
  try {
    return openSync(path, flags | NO_FOLLOW, 0o600);
  } catch (error) {
    if (error instanceof Error && 'code' in error) {
      if (error.code === 'ENOENT') return undefined;
      if (error.code === 'ELOOP') throw unsafePath(path, 'it is a link');
      // A pipe without a reader.
      if (error.code === 'ENXIO') throw unsafePath(path, 'it is not a regular file');
    }
    throw error;
  }
}

/** How a file is replaced. */
export interface ReplaceOptions {
  /** Default 0600. */
  readonly mode?: number;
  /** Whether the bytes are on the disk before the file has its name; default false. */
  readonly isDurable?: boolean;
}

/**
 * Writes a file whole or not at all: a new file takes the place of the old one, so a link or a second name is replaced and
 * never written through. Its folder must be there.
 *
 * @throws what the file system refuses
 */
export function replaceGuarded(path: string, bytes: string | Uint8Array, options: ReplaceOptions = {}): void {
  const { mode = 0o600, isDurable = false } = options;
  const unfinished = `${path}.${process.pid}.tmp`;
  try {
    // A process with this number that was killed.
    rmSync(unfinished, { force: true });
    writeFileSync(unfinished, bytes, { flag: 'wx', mode, flush: isDurable });
    renameSync(unfinished, path);
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/**
 * Checks that a path inside a folder really is there: each folder on the way that exists is a folder of this user and no
 * link. The file itself may be missing; if it is there, it is a regular file of this user with one name.
 *
 * @param root  absolute; itself reached by any path, also through links
 * @param path  absolute, inside `root`
 * @returns the path with links in `root` resolved: the one to use
 * @throws CoxswainError "unsafe-path" with the part that must not be used
 * Cost: a look at each part.
 */
export function insideFolder(root: string, path: string): string {
  const steps = relative(root, path);
  if (steps === '' || isAbsolute(steps) || steps.split(sep)[0] === '..')
    throw unsafePath(path, `it is not inside ${root}`);
  let at = realpathSync.native(root);
  const names = steps.split(sep);
  for (const [index, name] of names.entries()) {
    at = join(at, name);
    const facts = lookAt(at);
    if (facts === undefined) return join(at, ...names.slice(index + 1));
    const fault = index === names.length - 1 ? faultOfFile(facts) : faultOfFolder(facts);
    if (fault !== undefined) throw unsafePath(at, fault);
  }
  return at;
}

/**
 * Checks a file that a user named to be written: inside the folder they are in, which may be a cloned repository, nothing on
 * the way is a link. Outside of it, and for a device, it is their choice.
 *
 * @throws CoxswainError "unsafe-path"
 */
export function checkOutput(path: string, folder: string = process.cwd()): void {
  const at = resolve(folder, path);
  const steps = relative(folder, at);
  if (steps !== '' && !isAbsolute(steps) && steps.split(sep)[0] !== '..') insideFolder(folder, at);
}

/**
 * Makes a folder of ours in the user's state folder, and what is missing above it, for this user only (0700).
 *
 * @param root  the uppermost folder that is ours: it and all below it are checked; those above may be links
 * @throws CoxswainError "unsafe-path" where one of ours is a link, another user's, or may be written by others; "input-io"
 *   where one cannot be made
 */
export function makeOwnFolder(root: string, folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new CoxswainError('input-io', `${folder} cannot be made: ${messageOf(error)}`, { cause: error });
  }
  for (let at = folder; ; at = dirname(at)) {
    const facts = lookAt(at);
    const fault = facts === undefined ? 'it is gone' : (faultOfFolder(facts) ?? writableByOthers(facts));
    if (fault !== undefined) throw unsafePath(at, fault);
    if (at === root || dirname(at) === at) return;
  }
}
