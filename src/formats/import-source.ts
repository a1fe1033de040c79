import { basename } from 'node:path';
import type { Readable } from 'node:stream';

import { present } from '../core/base/json.ts';
import { CoxswainError } from '../core/base/error.ts';
import {
  accepted,
  candidatesOf,
  formatNames,
  printableName,
  surest,
  type Candidates,
} from './reading/choose-importer.ts';
import { decompress, packingOf } from './reading/decompress.ts';
import type { FormatName, ImportItem } from './import-item.ts';
import { importText } from './reading/import-text.ts';
import type { Importer, ImportSource } from './importer.ts';
import { readOpencodeDatabase, SQLITE_MAGIC } from './opencode/opencode-database.ts';
import { importers as allImporters } from './importers.ts';
import { openBytes } from './reading/open-bytes.ts';
import { utf8Chunks } from './reading/open-text.ts';
import { openZipArchive } from './reading/zip-archive.ts';

const MEBIBYTE = 1024 * 1024;

/** Limits on data held in memory at once, in bytes. */
export interface ImportLimits {
  /** Maximum size of one line; default 64 MiB. A longer line is skipped with an error. */
  readonly lineBytes?: number;
  /** Maximum size of one document; default 256 MiB. A larger document is an error. */
  readonly documentBytes?: number;
}

export interface ImportOptions {
  /** Format of the source. Default: detected from the content. */
  readonly format?: FormatName | undefined;
  /** Content for the path `-`; default: standard input of the process. */
  readonly stdin?: Readable | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * Called after every read with the number of bytes read and the file size. The count refers to the file, which may be
   * compressed. Not called for zip archives.
   */
  readonly onBytes?: ((bytesRead: number, totalBytes: number | undefined) => void) | undefined;
  readonly limits?: ImportLimits | undefined;
  /** Importers to use; default: all. */
  readonly importers?: readonly Importer[] | undefined;
}

/**
 * Reads the runs of a file, or of standard input for `-`. The source is text, a zip archive or a database; archives and
 * databases must be files. Text is UTF-8, or UTF-16 with a byte order mark. It contains JSON lines or one JSON document, and
 * may be compressed with gzip or zstd. The content determines the type of the source, not the file name.
 *
 * Damaged lines and runs become diagnostics among the items, and reading continues. The file is closed if the caller stops
 * early.
 *
 * Error messages begin with the path. Diagnostics do not contain the path.
 *
 * @param path  a file, or `-`
 * @throws CoxswainError `input-io` if the source cannot be opened or read, `format-unknown` if no importer recognises it (also
 * if it is empty or binary), `format-invalid` if the whole document is damaged, `input-too-large` if a limit is exceeded,
 * `invalid-argument` for an unknown format; the signal's reason on abort
 *
 * Cost: lines and archives are streamed, so memory holds one line or entry and the importer's state. A document is held in
 * memory completely.
 */
export async function* importSource(path: string, options: ImportOptions = {}): AsyncGenerator<ImportItem> {
  try {
    for await (const items of importGroups(path, options)) for (const item of items) yield item;
  } catch (error) {
    throw withPath(error, path);
  }
}

/**
 * Like `importSource`, but yields lists of items, so that the caller awaits once per list instead of once per item. Consume
 * each list completely before you request the next. Errors that the consumer throws are not prefixed with the path.
 */
export async function* importGroups(path: string, options: ImportOptions = {}): AsyncGenerator<Iterable<ImportItem>> {
  const candidates = candidatesOf(options.importers ?? allImporters, options.format);
  yield* itemGroups({ path, name: nameOf(path) }, { candidates, options });
}

interface ReadContext {
  readonly candidates: Candidates;
  readonly options: ImportOptions;
}

async function* itemGroups(source: ImportSource, context: ReadContext): AsyncGenerator<Iterable<ImportItem>> {
  const { candidates, options } = context;
  const { signal, onBytes, stdin } = options;
  const openedSource = await openBytes(source.path, { stdin: stdin ?? process.stdin, signal, onBytes });
  let chunks: AsyncGenerator<Buffer> | undefined;
  try {
    if (source.path !== '-' && openedSource.magic.equals(SQLITE_MAGIC)) {
      yield* readOpencodeDatabase(source.path);
      return;
    }
    const packing = packingOf(openedSource.magic);
    if (packing === 'zip') {
      for await (const item of importArchive(source, context)) yield [item];
      return;
    }
    chunks = utf8Chunks(packing === 'none' ? openedSource.chunks : decompress(openedSource.chunks, packing));
    const limits = {
      lineBytes: options.limits?.lineBytes ?? 64 * MEBIBYTE,
      documentBytes: options.limits?.documentBytes ?? 256 * MEBIBYTE,
    };
    yield* await importText(chunks, { source, candidates, limits });
  } finally {
    await chunks?.return(undefined);
    await openedSource.close();
  }
}

/** Adds the path to the message of an error. The functions that read content do not know the path. */
export function withPath(error: unknown, path: string): unknown {
  if (!(error instanceof CoxswainError)) return error;
  const { code, details, cause } = error;
  const formatList = code === 'format-unknown' ? `. Formats read: ${formatNames(allImporters).join(', ')}` : '';
  const message = `${path === '-' ? 'standard input' : path}: ${error.message}${formatList}`;
  return new CoxswainError(code, message, {
    details: { ...details, path },
    ...present({ cause }),
  });
}

async function* importArchive(source: ImportSource, { candidates, options }: ReadContext): AsyncGenerator<ImportItem> {
  if (source.path === '-') {
    const message = 'a zip archive cannot be read from standard input: save it to a file and give its path';
    throw new CoxswainError('input-io', message);
  }
  const { signal } = options;
  const entryLimitBytes = 256 * MEBIBYTE;
  const archive = await openZipArchive(source.path, { entryLimitBytes, signal });
  try {
    const names = archive.entries.map((entry) => entry.name);
    const bestArchive = surest(candidates.archives, (importer) => importer.recognise(names, source));
    const content = `a zip archive of ${names.length} entries (${names.slice(0, 3).map(printableName).join(', ')})`;
    yield* accepted(bestArchive, { candidates, content }).read(archive, source);
  } finally {
    archive.close();
  }
}

function nameOf(path: string): string {
  return path === '-' ? 'stdin' : basename(path).replace(/\.(?:gz|zst)$/i, '');
}
