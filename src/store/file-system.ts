import { constants, fstatSync } from 'node:fs';
import { mkdir, open, readdir, stat } from 'node:fs/promises';

/** A file as the file system reports it: what tells whether it changed since. */
export interface FileFacts {
  readonly inode: number;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
}

/** A file that is open to write at its end. Every method rejects with what the file system threw, or throws it. */
export interface OpenFile {
  /** Returns how many bytes were taken, which may be fewer than given. */
  write(bytes: Uint8Array): Promise<number>;
  truncate(sizeBytes: number): Promise<void>;
  /** Resolves when the disk has the bytes and the size. */
  sync(): Promise<void>;
  sizeBytes(): number;
  close(): Promise<void>;
}

/**
 * What the sink of JSON lines asks of a file system, so that tests can refuse an operation or cut the power.
 * Errors are those of Node: an `Error` with a `code` such as `ENOENT`.
 */
export interface FileSystem {
  /** Makes a folder (0700) and those missing above it; returns the topmost it made. */
  makeFolder(path: string): Promise<string | undefined>;
  list(folder: string): Promise<readonly string[]>;
  /** Undefined where nothing is. */
  facts(path: string): Promise<FileFacts | undefined>;
  /** A file that is missing is made, for its owner only (0600). */
  openEnd(path: string): Promise<OpenFile>;
  /** The bytes of a file from an offset to where it ends now. */
  read(path: string, fromOffset: number): AsyncIterable<Buffer>;
  /** Resolves when the disk has the names in a folder. */
  syncFolder(folder: string): Promise<void>;
}

// A store has no links in it; Windows lacks the flag.
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const WRITE_AT_END = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | NO_FOLLOW;

const CHUNK_BYTES = 256 * 1024;

/** The file system of the machine. */
export const nodeFileSystem: FileSystem = {
  makeFolder: (path) => mkdir(path, { recursive: true, mode: 0o700 }),
  list: (folder) => readdir(folder),
  facts: async (path) => {
    try {
      const { ino, mtimeMs, size } = await stat(path);
      return { inode: ino, sizeBytes: size, modifiedMs: mtimeMs };
    } catch (thrown) {
      if (isMissing(thrown)) return undefined;
      throw thrown;
    }
  },
  openEnd: async (path) => {
    const file = await open(path, WRITE_AT_END, 0o600);
    return {
      write: async (bytes) => (await file.write(bytes)).bytesWritten,
      truncate: (sizeBytes) => file.truncate(sizeBytes),
      sync: () => file.datasync(),
      sizeBytes: () => fstatSync(file.fd).size,
      close: () => file.close(),
    };
  },
  async *read(path, fromOffset) {
    const file = await open(path, constants.O_RDONLY | NO_FOLLOW);
    try {
      // What is written meanwhile is for the next look: what a writer cuts off may have been read in part.
      const { size } = await file.stat();
      for (let position = fromOffset; position < size;) {
        const length = Math.min(CHUNK_BYTES, size - position);
        const { buffer, bytesRead } = await file.read({ buffer: Buffer.allocUnsafe(length), position });
        if (bytesRead === 0) return;
        yield buffer.subarray(0, bytesRead);
        position += bytesRead;
      }
    } finally {
      await file.close();
    }
  },
  syncFolder: async (folder) => {
    // Windows cannot open folders and orders such writes itself.
    if (process.platform === 'win32') return;
    const file = await open(folder);
    try {
      await file.sync();
    } finally {
      await file.close();
    }
  },
};

/** True for the error of a file or folder that is not there. */
export function isMissing(thrown: unknown): boolean {
  return hasCode(thrown, 'ENOENT');
}

/** True for an error of the file system with this code. */
export function hasCode(thrown: unknown, code: string): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === code;
}
