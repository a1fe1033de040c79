import {
  accessSync,
  appendFileSync,
  closeSync,
  constants,
  existsSync,
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
  chmodSync,
  readFileSync,
  statSync,
} from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { CoxswainError, hasCode, messageOf } from '../base/error.ts';
import { present } from '../base/json.ts';

// Windows has neither flag. On Windows, creating a link needs rights that cloning a repository does not have.
const NO_FOLLOW = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

const MAX_BYTES = 16 * 1024 * 1024;

/** It is a link, is not a regular file, has a second name (a hard link), or belongs to another user. */
function faultOfFile(facts: Stats): string | undefined {
  if (facts.isSymbolicLink()) return 'it is a link';
  if (!facts.isFile()) return 'it is not a regular file';
  if (facts.nlink > 1) return 'it has a second name (a hard link)';
  return isOwn(facts) ? undefined : 'it belongs to another user';
}

/** It is a link, is not a folder, or belongs to another user. */
function faultOfFolder(facts: Stats): string | undefined {
  if (facts.isSymbolicLink()) return 'it is a link';
  if (!facts.isDirectory()) return 'it is not a folder';
  return isOwn(facts) ? undefined : 'it belongs to another user';
}

function isOwn({ uid }: Stats): boolean {
  return process.getuid === undefined || uid === process.getuid();
}

export function lookAt(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

export function unsafePath(path: string, why: string): CoxswainError {
  return new CoxswainError('unsafe-path', `${path} is neither read nor written: ${why}`, { details: { path, why } });
}

interface ReadOptions {
  /** Maximum size of the file; default 16 MB. */
  readonly maxBytes?: number;
  /** Accepts a file that other users may write, such as a file in a shared project; default false. */
  readonly mayBeShared?: boolean;
}

/**
 * Follows no link. Undefined if missing.
 *
 * @throws CoxswainError "unsafe-path" for a link, a hard link, a file of another user or one that others may write,
 * or a file that is too large; errors of the file system
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
    // `readFileSync` would call fstat again, and a hook reads several files per event.
    const bytes = Buffer.alloc(facts.size);
    const count = readSync(fd, bytes, 0, facts.size, 0);
    return count === facts.size ? bytes : bytes.subarray(0, count);
  } finally {
    closeSync(fd);
  }
}

function writableByOthers({ mode }: Stats): string | undefined {
  return process.platform !== 'win32' && (mode & 0o022) !== 0 ? 'other users can write to it' : undefined;
}

/** Creates a missing file with mode 0600. Throws CoxswainError "unsafe-path" as `readGuarded`, and errors of the file system. */
export function appendGuarded(path: string, text: string): void {
  const fd = openNoFollow(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT);
  if (fd === undefined) throw unsafePath(path, 'its folder does not exist');
  try {
    const fault = faultOfFile(fstatSync(fd));
    if (fault !== undefined) throw unsafePath(path, fault);
    appendFileSync(fd, text);
  } finally {
    closeSync(fd);
  }
}

/** Creates an empty file with mode 0600. An existing one stays. Throws errors of the file system. */
export function createEmpty(path: string): void {
  closeSync(openSync(path, constants.O_WRONLY | constants.O_CREAT | NO_FOLLOW, 0o600));
}

/** Undefined if the file is missing. Throws CoxswainError "unsafe-path" for a link. */
function openNoFollow(path: string, flags: number): number | undefined {
  try {
    return openSync(path, flags | NO_FOLLOW, 0o600);
  } catch (error) {
    if (error instanceof Error && 'code' in error) {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
      if (error.code === 'ELOOP') throw unsafePath(path, 'it is a link');
      // The file is a pipe without a reader.
      if (error.code === 'ENXIO') throw unsafePath(path, 'it is not a regular file');
    }
    throw error;
  }
}

/** A new file with mode 0600 replaces the old one, so nothing is written through a link or a second name. The folder must exist. */
export function replaceGuarded(path: string, bytes: string | Uint8Array): void {
  const unfinished = `${path}.${process.pid}.tmp`;
  try {
    // A killed process with the same pid may have left this file.
    rmSync(unfinished, { force: true });
    writeFileSync(unfinished, bytes, { flag: 'wx', mode: 0o600 });
    renameSync(unfinished, path);
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/**
 * Each folder must belong to this user and be no link; an existing file must be a regular one without a second name.
 *
 * @param root  absolute; may contain links
 * @param path  absolute, inside `root`
 * @returns the path with the links in `root` resolved
 * @throws CoxswainError "unsafe-path", which names the unsafe part
 */
export function requireInside(root: string, path: string): string {
  const steps = relative(root, path);
  if (steps === '' || isAbsolute(steps) || steps.split(sep)[0] === '..')
    throw unsafePath(path, `it is not inside ${root}`);
  let currentPath = realpathSync.native(root);
  const names = steps.split(sep);
  for (const [index, name] of names.entries()) {
    currentPath = join(currentPath, name);
    const facts = lookAt(currentPath);
    if (facts === undefined) return join(currentPath, ...names.slice(index + 1));
    const fault = index === names.length - 1 ? faultOfFile(facts) : faultOfFolder(facts);
    if (fault !== undefined) throw unsafePath(currentPath, fault);
  }
  return currentPath;
}

/** The current folder may be a cloned repository: a path in it has no links. Throws CoxswainError "unsafe-path". */
export function checkOutput(path: string, folder: string = process.cwd()): void {
  const absolutePath = resolve(folder, path);
  const steps = relative(folder, absolutePath);
  if (steps !== '' && !isAbsolute(steps) && steps.split(sep)[0] !== '..') requireInside(folder, absolutePath);
}

export const MAKE_WRITABLE = 'Make it writable, or set HOME, XDG_DATA_HOME or XDG_STATE_HOME to a folder that is.';

/** Undefined if files can be created in the folder, or in the nearest one above it that exists. */
export function whyNotWritable(folder: string): string | undefined {
  let found = folder;
  while (!existsSync(found) && dirname(found) !== found) found = dirname(found);
  try {
    if (!statSync(found).isDirectory()) return `${found} is not a folder`;
    accessSync(found, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return `${found} cannot be written (${messageOf(error).split(',')[0]})`;
  }
}

/**
 * Mode 0700, with missing parents.
 *
 * @param root  the topmost folder that is checked; those above may be links
 * @throws CoxswainError "unsafe-path" if a checked folder is a link, of another user, or writable by others;
 * "input-io"
 */
export function makeOwnFolder(root: string, folder: string, code: 'input-io' | 'store-io' = 'input-io'): void {
  const missing: string[] = [];
  for (let one = folder; !existsSync(one) && dirname(one) !== one; one = dirname(one)) missing.unshift(one);
  const why = missing.length === 0 ? undefined : whyNotWritable(dirname(missing[0] ?? folder));
  if (why !== undefined) throw new CoxswainError(code, `${folder} cannot be created: ${why}. ${MAKE_WRITABLE}`);
  for (const one of missing) {
    try {
      mkdirSync(one, { mode: 0o700 });
    } catch (error) {
      // Another process may have created it.
      if (hasCode(error, 'EEXIST')) continue;
      throw new CoxswainError(code, `${one} cannot be created: ${messageOf(error)}. ${MAKE_WRITABLE}`, {
        cause: error,
      });
    }
  }
  for (let currentFolder = folder; ; currentFolder = dirname(currentFolder)) {
    const facts = lookAt(currentFolder);
    const fault = facts === undefined ? 'it was deleted' : (faultOfFolder(facts) ?? writableByOthers(facts));
    if (fault !== undefined) throw unsafePath(currentFolder, fault);
    if (currentFolder === root || dirname(currentFolder) === currentFolder) return;
  }
}

/** A small file that another program owns, such as settings. */
interface FoundFile {
  readonly path: string;
  readonly bytes: Buffer;
}

/** At most 16 MiB. Undefined if it does not exist. Throws CoxswainError `input-io` if it cannot be read. */
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

interface ReplaceFileOptions {
  /** File mode. Default: the mode of the existing file. */
  readonly mode?: number | undefined;
  /** No link is followed below this folder, because a repository may contain links. Undefined for the user's own files. */
  readonly within?: string | undefined;
}

/** If a user's file is a link, writes its target. Returns the topmost new folder. Throws CoxswainError `unsafe-path`, `input-io`. */
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
