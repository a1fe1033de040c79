import { close, constants, fdatasync, fstatSync, fsync, ftruncate, link, mkdir, open, read, readdir } from 'node:fs';
import { readFile, rename, rmdir, stat, unlink, write, type Stats } from 'node:fs';
import { promisify } from 'node:util';

/** A file as the file system reports it: what tells whether it changed since. */
export interface FileFacts {
  readonly inode: number;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
}

/**
 * How a file is opened: to `read`, or to write at its end: `append` wants it to be there, `make` makes it where it is
 * missing, `create` refuses one that is there.
 */
export type OpenMode = 'read' | 'append' | 'make' | 'create';

/** What a file is opened for besides its mode. */
export interface OpenOptions {
  /** Asks for writes that are on the disk when they resolve, where the system can do that in one step. */
  readonly syncsWrites?: boolean;
}

/** A file that is open. Every method rejects with what the file system threw, or throws it. */
export interface OpenFile {
  /** True when a write resolves only once the disk has its bytes; otherwise `sync` is for that. */
  readonly syncsWrites: boolean;
  /** Answers how many bytes were read, 0 at the end. */
  read(into: Uint8Array, position: number): Promise<number>;
  /** Writes at the end of the file; answers how many bytes were taken, which may be fewer than given. */
  write(bytes: Uint8Array): Promise<number>;
  truncate(sizeBytes: number): Promise<void>;
  /** Resolves when the disk has the bytes and the size. */
  sync(): Promise<void>;
  /** At once: a microsecond of this thread is less than the way to another one and back. */
  sizeBytes(): number;
  close(): Promise<void>;
}

/**
 * The operations of a file system that the jsonl driver is built on, so that tests can refuse them or cut the power.
 * Errors are those of Node: an `Error` with a `code` such as `ENOENT`.
 */
export interface FileSystem {
  /** Makes a folder (0700) and those missing above it; answers the topmost it made. */
  makeFolder(path: string): Promise<string | undefined>;
  list(folder: string): Promise<readonly string[]>;
  /** Undefined where nothing is. */
  facts(path: string): Promise<FileFacts | undefined>;
  /** A file that is made is for its owner only (0600). */
  open(path: string, mode: OpenMode, options?: OpenOptions): Promise<OpenFile>;
  readWhole(path: string): Promise<Uint8Array>;
  /** Gives a file a second name; `EEXIST` where the name is taken. */
  link(from: string, to: string): Promise<void>;
  /** Gives a file or a folder another name, in one step; a file replaces one that has the new name. */
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Removes a folder that is empty. */
  removeFolder(path: string): Promise<void>;
  /** Resolves when the disk has the names in a folder. */
  syncFolder(folder: string): Promise<void>;
}

// A store has no links in it; Windows lacks the flag.
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const WRITE_AT_END = constants.O_WRONLY | constants.O_APPEND | NO_FOLLOW;

const FLAGS: Readonly<Record<OpenMode, number>> = {
  read: constants.O_RDONLY | NO_FOLLOW,
  append: WRITE_AT_END,
  make: WRITE_AT_END | constants.O_CREAT,
  create: WRITE_AT_END | constants.O_CREAT | constants.O_EXCL,
};

const calls = {
  close: promisify(close),
  fdatasync: promisify(fdatasync),
  fsync: promisify(fsync),
  ftruncate: promisify(ftruncate),
  link: promisify(link),
  mkdir: promisify(mkdir),
  open: promisify(open),
  read: promisify(read),
  readdir: promisify(readdir),
  readFile: promisify(readFile),
  rename: promisify(rename),
  rmdir: promisify(rmdir),
  stat: promisify(stat),
  unlink: promisify(unlink),
  write: promisify(write),
};

/** The file system of the machine. */
export const nodeFileSystem: FileSystem = {
  makeFolder: (path) => calls.mkdir(path, { recursive: true, mode: 0o700 }),
  list: (folder) => calls.readdir(folder),
  facts: async (path) => {
    try {
      return toFacts(await calls.stat(path));
    } catch (thrown) {
      if (isMissing(thrown)) return undefined;
      throw thrown;
    }
  },
  open: async (path, mode, options) => {
    // Elsewhere the flag is missing, or leaves the bytes in the drive's own cache.
    const syncsWrites = options?.syncsWrites === true && process.platform === 'linux';
    const flags = FLAGS[mode] | (syncsWrites ? constants.O_DSYNC : 0);
    return openNodeFile(await calls.open(path, flags, 0o600), syncsWrites);
  },
  readWhole: (path) => calls.readFile(path),
  link: (from, to) => calls.link(from, to),
  rename: (from, to) => calls.rename(from, to),
  remove: (path) => calls.unlink(path),
  removeFolder: (path) => calls.rmdir(path),
  syncFolder: async (folder) => {
    // Windows cannot open folders and orders such writes itself.
    if (process.platform === 'win32') return;
    const fd = await calls.open(folder, 'r');
    try {
      await calls.fsync(fd);
    } finally {
      await calls.close(fd);
    }
  },
};

function openNodeFile(fd: number, syncsWrites: boolean): OpenFile {
  return {
    syncsWrites,
    read: async (into, position) => (await calls.read(fd, into, 0, into.length, position)).bytesRead,
    write: async (bytes) => (await calls.write(fd, bytes, 0, bytes.length, null)).bytesWritten,
    truncate: (sizeBytes) => calls.ftruncate(fd, sizeBytes),
    sync: () => calls.fdatasync(fd),
    sizeBytes: () => fstatSync(fd).size,
    close: () => calls.close(fd),
  };
}

function toFacts(stats: Stats): FileFacts {
  return { inode: stats.ino, sizeBytes: stats.size, modifiedMs: stats.mtimeMs };
}

/** True for the error of a file or folder that is not there. */
export function isMissing(thrown: unknown): boolean {
  return hasCode(thrown, 'ENOENT');
}

/** True for an error of the file system with this code. */
export function hasCode(thrown: unknown, code: string): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === code;
}
