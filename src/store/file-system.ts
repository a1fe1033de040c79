import { constants, fstatSync } from 'node:fs';
import { mkdir, open, readdir, stat } from 'node:fs/promises';

import { hasCode } from '../base/error.ts';

/** Properties of a file that change when it is written. */
export interface FileFacts {
  readonly inode: number;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
}

/** A file that is open for appending. Every method throws the errors of the file system. */
export interface OpenFile {
  /** Returns the number of bytes written, which may be smaller than the number passed. */
  write(bytes: Uint8Array): Promise<number>;
  truncate(sizeBytes: number): Promise<void>;
  /** Resolves when the bytes and the size are on disk. */
  sync(): Promise<void>;
  sizeBytes(): number;
  close(): Promise<void>;
}

/**
 * The file system that the sink of JSON lines uses. Tests replace it to inject faults and power loss. Its errors are those
 * of Node.
 */
export interface FileSystem {
  /** Creates a folder (0700) and its missing parents. Returns the topmost folder that it created. */
  makeFolder(path: string): Promise<string | undefined>;
  list(folder: string): Promise<readonly string[]>;
  /** Returns undefined for a missing file. */
  facts(path: string): Promise<FileFacts | undefined>;
  /** Opens a file for appending. Creates a missing file with mode 0600. */
  openEnd(path: string): Promise<OpenFile>;
  /** Reads a file from a byte offset to its current end. */
  read(path: string, fromOffset: number): AsyncIterable<Buffer>;
  /** Resolves when the names in a folder are on disk. */
  syncFolder(folder: string): Promise<void>;
}

// A store contains no links. Windows does not have this flag.
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const WRITE_AT_END = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | NO_FOLLOW;

const CHUNK_BYTES = 256 * 1024;

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
      // Bytes written meanwhile are read by the next call, because a writer may truncate them again.
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
    // Windows cannot open folders, and it orders such writes itself.
    if (process.platform === 'win32') return;
    const file = await open(folder);
    try {
      await file.sync();
    } finally {
      await file.close();
    }
  },
};

/** Returns true for the error of a missing file or folder. */
export function isMissing(thrown: unknown): boolean {
  return hasCode(thrown, 'ENOENT');
}
