import { open, type FileHandle } from 'node:fs/promises';
import { Readable, pipeline } from 'node:stream';
import type { ZstdDecompress } from 'node:zlib';
import { CoxswainError, messageOf, invalidArgument } from '../../core/base/error.ts';
import type { Entry, ZipFile } from 'yauzl';
import type { ArchiveReader } from '../importer.ts';
import { wholeText } from './text-head.ts';

type Packing = 'gzip' | 'zstd' | 'zip' | 'none';

/** The size is small, because a truncated compressed file loses up to one chunk of its last lines. */
const UNPACKED_CHUNK_BYTES = 64 * 1024;

export function packingOf(magic: Buffer): Packing {
  if (magic.length >= 2 && magic[0] === 0x1f && magic[1] === 0x8b) return 'gzip';
  if (magic.length < 4) return 'none';
  const word = magic.readUInt32LE(0);
  if (word === 0xfd2fb528 || word - (word % 16) === 0x184d2a50) return 'zstd';
  const isZip = word === 0x04034b50 || word === 0x06054b50 || word === 0x08074b50;
  return isZip ? 'zip' : 'none';
}

/** Also several members or frames. Throws CoxswainError `format-invalid` for damage, after the data before it. */
export async function* decompress(chunks: AsyncIterable<Buffer>, packing: 'gzip' | 'zstd'): AsyncGenerator<Buffer> {
  try {
    yield* packing === 'gzip' ? gunzip(chunks) : unpackZstd(chunks);
  } catch (error) {
    throw decompressionError(error, packing);
  }
}

async function* gunzip(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  // Loaded on demand, because most sources are not compressed.
  const engine = process.getBuiltinModule('node:zlib').createGunzip({ chunkSize: UNPACKED_CHUNK_BYTES });
  // An error of the source or the decompressor is thrown below, where the decompressor is iterated.
  pipeline(Readable.from(chunks, { objectMode: true, highWaterMark: 1 }), engine, () => {});
  // A decompressor without an encoding yields buffers.
  for await (const chunk of engine) yield chunk as Buffer;
}

/** Node ends the output after a frame that ends within a chunk: the rest of the chunk begins the next one. `zstd` writes many frames. */
async function* unpackZstd(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const { createZstdDecompress } = process.getBuiltinModule('node:zlib');
  const source = chunks[Symbol.asyncIterator]();
  const take = async (): Promise<Buffer | undefined> => {
    const { done, value } = await source.next();
    return done === true ? undefined : value;
  };
  try {
    let first = await take();
    while (first !== undefined) {
      const engine = createZstdDecompress({ chunkSize: UNPACKED_CHUNK_BYTES });
      const rest = feed(engine, first, take);
      rest.catch((error: unknown) => engine.destroy(error instanceof Error ? error : new Error(messageOf(error))));
      for await (const part of engine) yield part as Buffer;
      first = await rest;
    }
  } finally {
    await source.return?.();
  }
}

/** Returns what the decompressor left of a chunk; undefined at the end of all chunks. */
async function feed(
  engine: ZstdDecompress,
  first: Buffer,
  take: () => Promise<Buffer | undefined>,
): Promise<Buffer | undefined> {
  for (let chunk: Buffer | undefined = first; chunk !== undefined; chunk = await take()) {
    const takenBefore = engine.bytesWritten;
    await new Promise((resolve) => engine.write(chunk, resolve));
    const rest = chunk.subarray(engine.bytesWritten - takenBefore);
    if (rest.length > 0) return rest;
  }
  engine.end();
  return undefined;
}

function decompressionError(error: unknown, packing: string): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (!/^(?:Z_|ZSTD_|ERR_ZLIB)/.test(code)) return error;
  const damageText = code === 'Z_BUF_ERROR' ? 'is cut off' : `is damaged (${messageOf(error)})`;
  return new CoxswainError('format-invalid', `the ${packing} data ${damageText}`, { details: { code }, cause: error });
}

/** Compression method number of zstd, which newer Inspect logs use. The archive library supports only stored (0) and deflate (8). */
const METHOD_ZSTD = 93;

interface ZipArchiveOptions {
  readonly entryLimitBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** An open archive. The caller that opened it must call `close`, also after an error. */
interface ZipArchive extends ArchiveReader {
  close(): void;
}

/**
 * Reads entries on demand; names are labels only. The last of several entries with one name is used. `readText` throws
 * CoxswainError `input-too-large` (by the table of contents and by actual size), `format-invalid` for a damaged or
 * encrypted entry or another method, `invalid-argument` for an unknown name.
 *
 * @throws CoxswainError `format-invalid` for a damaged archive
 */
export async function openZipArchive(path: string, options: ZipArchiveOptions): Promise<ZipArchive> {
  const entries = new Map<string, Entry>();
  let file: ZipFile | undefined;
  // Loaded on demand, because few sources are archives.
  const { openPromise } = await import('yauzl');
  try {
    file = await openPromise(path, { autoClose: false, lazyEntries: true });
    for await (const entry of file.eachEntry()) {
      options.signal?.throwIfAborted();
      if (!entry.fileName.endsWith('/')) entries.set(entry.fileName, entry);
    }
  } catch (error) {
    file?.close();
    options.signal?.throwIfAborted();
    throw damagedArchive('the zip archive', error);
  }
  const zip = file;
  return {
    entries: [...entries].map(([name, entry]) => ({ name, sizeBytes: entry.uncompressedSize })),
    readText: async (name) => {
      options.signal?.throwIfAborted();
      const entry = entries.get(name);
      if (entry === undefined) {
        throw invalidArgument(`the archive has no entry ${JSON.stringify(name)}`);
      }
      return await readEntry(zip, entry, options.entryLimitBytes);
    },
    close: () => zip.close(),
  };
}

async function readEntry(file: ZipFile, entry: Entry, limitBytes: number): Promise<string> {
  const label = `the archive entry ${JSON.stringify(entry.fileName.slice(0, 200))}`;
  if (entry.uncompressedSize > limitBytes) throw tooLarge(label, limitBytes);
  try {
    const bytes = await unpackedBytes(file, entry);
    const { text } = await wholeText(bytes, { limitBytes, tooLarge: () => tooLarge(label, limitBytes) });
    return text;
  } catch (error) {
    throw error instanceof CoxswainError && error.code === 'input-too-large' ? error : damagedArchive(label, error);
  }
}

async function unpackedBytes(file: ZipFile, entry: Entry): Promise<AsyncIterable<Buffer>> {
  if (entry.compressionMethod !== METHOD_ZSTD || entry.isEncrypted()) {
    return buffersOf(await file.openReadStreamPromise(entry));
  }
  const packedStream = await file.openReadStreamPromise(entry, { decodeFileData: false });
  return decompress(buffersOf(packedStream), 'zstd');
}

function buffersOf(stream: Readable): AsyncIterable<Buffer> {
  // The archive library's streams have no encoding, so they yield buffers.
  return stream as AsyncIterable<Buffer>;
}

function tooLarge(label: string, limitBytes: number): CoxswainError {
  return new CoxswainError('input-too-large', `${label} is over the limit of ${limitBytes} bytes`);
}

function damagedArchive(label: string, cause: unknown): CoxswainError {
  return new CoxswainError('format-invalid', `${label} cannot be read: ${messageOf(cause)}`, { cause });
}

const CHUNK_BYTES = 256 * 1024;

interface OpenBytesOptions {
  readonly stdin: Readable;
  readonly signal?: AbortSignal | undefined;
  /** Called after every read with the number of bytes read. For a regular file, also with the file size. */
  readonly onBytes?: ((bytesRead: number, totalBytes: number | undefined) => void) | undefined;
}

/** An open source. The caller that opened it must call `close`, also after an error. */
interface OpenedBytes {
  /** The first four bytes, or fewer if the source is shorter. `chunks` also contains them. */
  readonly magic: Buffer;
  readonly chunks: AsyncIterable<Buffer>;
  close(): Promise<void>;
}

/** Throws CoxswainError `input-io` if the source is missing, a folder, unreadable, or fails; the signal's reason on abort. */
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
  return { magic: first.subarray(0, 4), chunks: withFirst(first, chunks), close };
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
