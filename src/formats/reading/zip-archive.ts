import type { Readable } from 'node:stream';

import type { Entry, ZipFile } from 'yauzl';

import { CoxswainError, messageOf, invalidArgument } from '../../core/base/error.ts';
import { decompress } from './decompress.ts';
import type { ArchiveReader } from '../importer.ts';
import { wholeText } from './whole-text.ts';

/** Compression method number of zstd, which newer Inspect logs use. The archive library supports only stored (0) and deflate (8). */
const METHOD_ZSTD = 93;

export interface ZipArchiveOptions {
  /** Maximum uncompressed size of one entry. */
  readonly entryLimitBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** An open archive. The caller that opened it must call `close`, also after an error. */
export interface ZipArchive extends ArchiveReader {
  close(): void;
}

/**
 * Opens a zip archive and reads its table of contents. Entries are read on demand. Names of entries serve only as labels, and
 * nothing is written to disk. If several entries have the same name, the last one is used. Folders are skipped.
 *
 * `readText` throws CoxswainError `input-too-large` for an entry over the limit (by the table of contents and by actual size),
 * `format-invalid` for a damaged or encrypted entry or a method other than stored, deflate and zstd, `invalid-argument` for a
 * name that is not in `entries`.
 *
 * @throws CoxswainError `format-invalid` if the archive itself is damaged or truncated
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
