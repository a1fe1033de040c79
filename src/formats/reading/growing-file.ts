import { open, stat, type FileHandle } from 'node:fs/promises';

import { CoxswainError, hasCode } from '../../core/base/error.ts';
import { ioError } from './open-bytes.ts';

/** Number of bytes per read. */
const CHUNK_BYTES = 256 * 1024;
/**
 * Number of bytes that are compared with the file before reading continues. They detect a file that was rewritten with a
 * greater length.
 */
const TAIL_BYTES = 64;

/** Why a file is read again from its beginning. */
export type RestartReason = 'truncated' | 'replaced' | 'rewritten';

/** Result of one poll of a growing file. */
export type GrowingRead =
  | { readonly type: 'bytes'; readonly bytes: Buffer }
  /** There are no new bytes. */
  | { readonly type: 'end' }
  /** The file does not exist. */
  | { readonly type: 'missing' }
  /** The file was replaced or changed. Reading restarts at its beginning. */
  | { readonly type: 'restarted'; readonly reason: RestartReason };

/**
 * Reads a file while other programs write to it. If the file is renamed, it is read to its end. Reading then continues with
 * the new file that has the original name.
 *
 * Memory: one chunk of 256 KiB.
 */
export class GrowingFile {
  readonly #path: string;
  #handle: FileHandle | undefined;
  #offset = 0;
  #tail: Buffer = Buffer.alloc(0);

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Checks the file once for new bytes.
   *
   * @throws CoxswainError `input-io` if it is not a regular file or cannot be read
   */
  async read(): Promise<GrowingRead> {
    try {
      return await this.#readGrowth();
    } catch (error) {
      throw ioError(error);
    }
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }

  async #readGrowth(): Promise<GrowingRead> {
    this.#handle ??= await openIfThere(this.#path);
    const handle = this.#handle;
    if (handle === undefined) return { type: 'missing' };
    const { size, ino, dev } = await handle.stat();
    if (size < this.#offset) return this.#restartFile('truncated');
    if (size > this.#offset) return await this.#readMore(handle);
    const statsByPath = await stat(this.#path).catch(() => undefined);
    if (statsByPath === undefined || (statsByPath.ino === ino && statsByPath.dev === dev)) return { type: 'end' };
    await this.close();
    return this.#restartFile('replaced');
  }

  async #readMore(handle: FileHandle): Promise<GrowingRead> {
    const tail = this.#tail;
    const buffer = Buffer.allocUnsafe(tail.length + CHUNK_BYTES);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, this.#offset - tail.length);
    if (!buffer.subarray(0, Math.min(tail.length, bytesRead)).equals(tail)) return this.#restartFile('rewritten');
    const readBytes = buffer.subarray(0, bytesRead);
    this.#offset += bytesRead - tail.length;
    this.#tail = Buffer.from(readBytes.subarray(-TAIL_BYTES));
    return { type: 'bytes', bytes: readBytes.subarray(tail.length) };
  }

  #restartFile(reason: RestartReason): GrowingRead {
    this.#offset = 0;
    this.#tail = Buffer.alloc(0);
    return { type: 'restarted', reason };
  }
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  const pathStats = await stat(path).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  });
  // Checked before opening, because opening a pipe would wait for its writer.
  if (pathStats === undefined) return undefined;
  if (!pathStats.isFile())
    throw new CoxswainError('input-io', pathStats.isDirectory() ? 'is a folder' : 'is not a regular file');
  return open(path, 'r');
}
