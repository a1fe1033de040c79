import { open, type FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';

import { CoxswainError, messageOf } from '../../core/base/error.ts';

/** Number of bytes per read. */
const CHUNK_BYTES = 256 * 1024;

export interface OpenBytesOptions {
  /** Stream that is read for the path `-`. */
  readonly stdin: Readable;
  readonly signal?: AbortSignal | undefined;
  /** Called after every read with the number of bytes read. For a regular file, also with the file size. */
  readonly onBytes?: ((bytesRead: number, totalBytes: number | undefined) => void) | undefined;
}

/** An open source. The caller that opened it must call `close`, also after an error. */
export interface OpenedBytes {
  /** The first four bytes, or fewer if the source is shorter. `chunks` also contains them. */
  readonly magic: Buffer;
  /** Iterate once. */
  readonly chunks: AsyncIterable<Buffer>;
  close(): Promise<void>;
}

/**
 * Opens a file, or standard input for `-`, and reads chunks on demand.
 *
 * @throws CoxswainError `input-io` if the source does not exist, is a folder, is unreadable, or fails during reading; the
 * signal's reason on abort
 */
export async function openBytes(path: string, options: OpenBytesOptions): Promise<OpenedBytes> {
  if (path === '-') {
    const { stdin } = options;
    return withMagic(countedChunks(stdin, undefined, options), async () => void stdin.destroy());
  }
  const handle = await openFile(path);
  const close = (): Promise<void> => handle.close();
  try {
    const stats = await handle.stat();
    if (stats.isDirectory()) throw new CoxswainError('input-io', 'is a folder');
    const totalBytes = stats.isFile() ? stats.size : undefined;
    return await withMagic(countedChunks(chunksOf(handle), totalBytes, options), close);
  } catch (error) {
    await close();
    throw ioError(error);
  }
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (error) {
    throw ioError(error);
  }
}

/** A readable stream yields text instead of bytes if an encoding was set on it. */
function asBuffer(chunk: unknown): Buffer {
  if (Buffer.isBuffer(chunk)) return chunk;
  if (chunk instanceof Uint8Array) return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  return Buffer.from(String(chunk));
}

async function* chunksOf(handle: FileHandle): AsyncGenerator<Buffer> {
  for (;;) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, null);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}

async function* countedChunks(
  chunks: AsyncIterable<unknown>,
  totalBytes: number | undefined,
  options: OpenBytesOptions,
): AsyncGenerator<Buffer> {
  let bytesRead = 0;
  options.signal?.throwIfAborted();
  try {
    for await (const chunk of chunks) {
      options.signal?.throwIfAborted();
      const bytes = asBuffer(chunk);
      bytesRead += bytes.length;
      options.onBytes?.(bytesRead, totalBytes);
      yield bytes;
    }
  } catch (error) {
    throw ioError(error);
  }
}

/** Reads the first four bytes, so that the caller can detect the type of the file. */
async function withMagic(chunks: AsyncGenerator<Buffer>, close: () => Promise<void>): Promise<OpenedBytes> {
  const head: Buffer[] = [];
  let headBytes = 0;
  while (headBytes < 4) {
    const next = await chunks.next();
    if (next.done === true) break;
    head.push(next.value);
    headBytes += next.value.length;
  }
  const first = Buffer.concat(head);
  return {
    magic: first.subarray(0, 4),
    chunks: withFirst(first, chunks),
    close,
  };
}

async function* withFirst(first: Buffer, remainingChunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  if (first.length > 0) yield first;
  yield* remainingChunks;
}

const PLAIN_REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  ENOTDIR: 'no such file',
  EISDIR: 'is a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EMFILE: 'too many open files',
  ELOOP: 'too many links',
};

/** Converts a file-system error to a readable error. Any other error is returned unchanged. */
export function ioError(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || !('syscall' in error)) return error;
  const code = String(error.code);
  return new CoxswainError('input-io', PLAIN_REASONS[code] ?? messageOf(error), { details: { code }, cause: error });
}
