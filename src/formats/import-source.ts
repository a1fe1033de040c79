import { basename } from 'node:path';
import type { Readable } from 'node:stream';
import { present } from '../core/base/json.ts';
import { CoxswainError, messageOf } from '../core/base/error.ts';
import {
  accepted,
  candidatesOf,
  formatNames,
  printableName,
  SURE_ENOUGH,
  surest,
  type Candidates,
  describeJson,
} from './reading/choose-importer.ts';
import { decompress, packingOf, openBytes, openZipArchive } from './reading/open-bytes.ts';
import {
  type FormatName,
  type ImportItem,
  diagnosticItem,
  type Importer,
  type ImportSource,
  type LineImport,
  type LineImporter,
} from './importer.ts';
import { readSessionDatabase, SQLITE_MAGIC } from './opencode/opencode-database.ts';
import { importers as allImporters } from './importers.ts';
import { importLines } from './reading/import-lines.ts';
import { decodeJson, type JsonText, locateFault } from './reading/json-text.ts';
import { HEAD_LINES, readTextHead, type TextContext, type TextHead, wholeText } from './reading/text-head.ts';

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
  /** After every read of a file, in bytes of the file, which may be compressed. Not for zip archives. */
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

/** Lists, for one await each. Consume each before the next. Errors of the consumer are not prefixed with the path. */
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
      yield* readSessionDatabase(source.path);
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
  return new CoxswainError(code, message, { details: { ...details, path }, ...present({ cause }) });
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

/**
 * The content decides, not the file name: a complete JSON value as the first of several lines means lines; as the only
 * line, the more confident importer; anything else is a document, unless most of the first lines are JSON (a damaged
 * file of lines).
 *
 * @throws CoxswainError `format-unknown`, `format-invalid`, `input-too-large`
 */
async function importText(
  chunks: AsyncIterator<Buffer>,
  context: TextContext,
): Promise<AsyncIterable<Iterable<ImportItem>>> {
  const head = await readTextHead(chunks, context.limits);
  if (head.lines.length === 0) {
    if (head.fault !== undefined) throw head.fault;
    throw new CoxswainError('format-unknown', 'the file is empty');
  }
  const { candidates, source } = context;
  const texts = head.lines.map(({ text }) => text ?? '');
  const asText = surest(candidates.texts, (one) => one.recognise(texts, source));
  if (asText !== undefined && asText.confidence >= SURE_ENOUGH)
    return importLines(head, chunks, asText.importer.open(source), true);
  const importer = linesImporterFor(head, context);
  return importer === undefined
    ? importDocument(head, chunks, context)
    : importLines(head, chunks, importer.open(source));
}

function linesImporterFor(head: TextHead, context: TextContext): LineImporter | undefined {
  const { candidates, source } = context;
  if (candidates.lines.length === 0 && candidates.documents.length > 0) return undefined;
  const [first] = head.lines;
  const values = decodedValues(head).slice(0, HEAD_LINES);
  const bestMatch =
    values.length === 0 ? undefined : surest(candidates.lines, (importer) => importer.recognise(values, source));
  if (first?.json?.ok === true) {
    const { value } = first.json;
    if (head.lines.length === 1) {
      const asDocument = surest(candidates.documents, (importer) => importer.recognise(value, source));
      if (bestMatch === undefined || bestMatch.confidence <= (asDocument?.confidence ?? -1)) return undefined;
    }
    return accepted(bestMatch, { candidates, content: `a text whose first line is ${describeJson(value)}` });
  }
  const mayBeDocument = candidates.documents.length > 0 && head.bytes !== undefined;
  if (mayBeDocument && (!isMostlyJson(head) || isOneDocument(head))) return undefined;
  const value = decodedValues(head)[0];
  if (value === undefined) {
    if (head.bytes === undefined) {
      const { lineBytes } = context.limits;
      throw new CoxswainError('input-too-large', `no line is below the limit of ${lineBytes} bytes`);
    }
    throw new CoxswainError('format-invalid', 'none of the first lines is valid JSON');
  }
  return accepted(bestMatch, {
    candidates: context.candidates,
    content: `a text with damaged lines among which one is ${describeJson(value)}`,
  });
}

/** Returns true for damaged lines among valid ones. Few lines of a document are valid JSON on their own. */
function isMostlyJson(head: TextHead): boolean {
  const last = head.lines.at(-1);
  const isLastTorn = last !== undefined && !last.terminated && last.json?.ok === false;
  const count = head.lines.length - (isLastTorn ? 1 : 0);
  const sound = decodedValues(head).filter((value) => typeof value === 'object' && value !== null);
  const foreign = head.lines.filter(({ isLogLine, zeroBytes }) => isLogLine === true || zeroBytes !== undefined).length;
  return sound.length > 0 && 2 * sound.length >= count - foreign;
}

function isOneDocument(head: TextHead): boolean {
  if (!head.isWhole || head.bytes === undefined) return false;
  return decodeJson(Buffer.concat(head.bytes).toString('utf8')).ok;
}

function decodedValues(head: TextHead): readonly unknown[] {
  return head.lines.flatMap(({ json }) => (json?.ok === true ? [json.value] : []));
}

/** An error within this number of characters means that the file is not JSON. */
const FIRST_WORDS_CHARS = 24;

/**
 * Holds the document in memory.
 *
 * @throws CoxswainError `input-too-large`; `format-invalid` if it is damaged or nested too deep; `format-unknown` if
 * it is not JSON or no importer recognises it
 */
async function* importDocument(
  head: TextHead,
  remainingChunks: AsyncIterator<Buffer>,
  context: TextContext,
): AsyncGenerator<Iterable<ImportItem>> {
  const { documentBytes } = context.limits;
  const tooLarge = (): CoxswainError =>
    new CoxswainError('input-too-large', `the document is over the limit of ${documentBytes} bytes`);
  if (head.fault !== undefined) throw head.fault;
  if (head.bytes === undefined) throw tooLarge();
  const chunks = joinChunks(head.bytes, remainingChunks);
  const { text, hasInvalidUtf8 } = await wholeText(chunks, { limitBytes: documentBytes, tooLarge });
  const json = decodeJson(text);
  const { candidates, source } = context;
  if (!json.ok) {
    const error = invalidJson(json, text);
    if (candidates.forced !== undefined || !isNoJson(error, text)) throw error;
    throw new CoxswainError('format-unknown', 'text that is not JSON');
  }

  const bestMatch = surest(candidates.documents, (importer) => importer.recognise(json.value, source));
  const list = json.value;
  const asLines =
    Array.isArray(list) && list.length > 0
      ? surest(candidates.lines, (importer) => importer.recognise(list.slice(0, HEAD_LINES), source))
      : undefined;
  if (Array.isArray(list) && asLines !== undefined && asLines.confidence > Math.max(0.5, bestMatch?.confidence ?? 0)) {
    yield listItems(list, asLines.importer.open(source));
    return;
  }
  const importer = accepted(bestMatch, { candidates, content: describeJson(json.value) });
  if (hasInvalidUtf8) {
    yield [diagnosticItem('note', 'bytes that are not UTF-8 were replaced')];
  }
  yield withFormatErrors(importer.read(json.value, source), importer.format);
}

/** Reads a list whose entries are the lines of another format, as the GitHub Action of Claude Code writes them. */
function* listItems(list: readonly unknown[], lines: LineImport): Generator<ImportItem> {
  for (const [at, value] of list.entries()) yield* lines.line(value, at + 1);
  yield* lines.end();
}

/** Importers must not throw on content that they recognised. If one does, the error names the importer's format. */
function* withFormatErrors(items: Iterable<ImportItem>, format: string): Generator<ImportItem> {
  try {
    yield* items;
  } catch (error) {
    if (error instanceof CoxswainError) throw error;
    throw new CoxswainError('format-invalid', `not readable as ${format}: ${messageOf(error)}`, { cause: error });
  }
}

async function* joinChunks(head: readonly Buffer[], remainingChunks: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield* head;
  for (let next = await remainingChunks.next(); next.done !== true; next = await remainingChunks.next())
    yield next.value;
}

function invalidJson(json: JsonText & { readonly ok: false }, text: string): CoxswainError {
  const isTooDeep = json.position === undefined && json.reason.startsWith('is nested');
  const position = isTooDeep ? undefined : (json.position ?? locateFault(text));
  if (position === undefined) return new CoxswainError('format-invalid', `the document ${json.reason}`);
  const { line, column } = placeOf(position, text);
  const message = json.cutOff
    ? `the document is cut off at line ${line}`
    : `the document ${json.reason} at line ${line}, column ${column}`;
  return new CoxswainError('format-invalid', message, { details: { line, column, position, cutOff: json.cutOff } });
}

/** Returns true if the text is not JSON from its first characters on. It is then another kind of file, not damaged JSON. */
function isNoJson(error: CoxswainError, text: string): boolean {
  const { position, cutOff } = error.details;
  const isEarly = cutOff !== true && typeof position === 'number' && position < FIRST_WORDS_CHARS;
  return isEarly || !/^\s*[[{]/.test(text);
}

function placeOf(position: number, text: string): { readonly line: number; readonly column: number } {
  let line = 1;
  let start = 0;
  for (let offset = text.indexOf('\n'); offset !== -1 && offset < position; offset = text.indexOf('\n', start)) {
    line += 1;
    start = offset + 1;
  }
  return { line, column: position - start + 1 };
}

/** A text is binary if its beginning contains this byte. */
const NUL = 0;
const LOOKED_AT_BYTES = 64 * 1024;

/** Without a byte order mark; UTF-16 with one is converted. Throws CoxswainError `format-unknown` for a NUL byte in 64 KiB. */
async function* utf8Chunks(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const iterator = chunks[Symbol.asyncIterator]();
  try {
    const { bytes: first, fault } = await firstBytes(iterator);
    const encoding = utf16Of(first);
    if (encoding !== undefined) {
      yield* convertUtf16(first, encoding, iterator);
      return;
    }
    let searchedBytes = first.length;
    refuseBinary(first);
    const text = hasUtf8Mark(first) ? first.subarray(3) : first;
    if (text.length > 0) yield text;
    if (fault !== undefined) throw fault.error;
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
      const { value } = next;
      if (searchedBytes < LOOKED_AT_BYTES) refuseBinary(value.subarray(0, LOOKED_AT_BYTES - searchedBytes));
      searchedBytes += value.length;
      if (value.length > 0) yield value;
    }
  } finally {
    await iterator.return?.();
  }
}

interface FirstBytes {
  readonly bytes: Buffer;
  /** An error of the source that occurred after these bytes. The bytes are usable. */
  readonly fault: { readonly error: unknown } | undefined;
}

/** Reads until a byte order mark is complete. It reads no further, because a pipe may be slow. */
async function firstBytes(chunks: AsyncIterator<Buffer>): Promise<FirstBytes> {
  let bytes = Buffer.alloc(0);
  try {
    while (bytes.length < 4) {
      const next = await chunks.next();
      if (next.done === true) break;
      bytes = Buffer.concat([bytes, next.value]);
    }
  } catch (error) {
    return { bytes, fault: { error } };
  }
  return { bytes, fault: undefined };
}

/** Maximum number of stretches of zero bytes in a text that a crash or a loss of power damaged. */
const MAX_ZERO_RUNS = 64;

/** Returns true for a text with a few stretches of zero bytes, of which each takes a place of its own. */
function isTextWithZeros(head: Buffer): boolean {
  let runs = 0;
  let wasZero = false;
  for (const byte of head) {
    const isZero = byte === NUL;
    if (isZero && !wasZero) runs += 1;
    wasZero = isZero;
    const isControl = byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d && byte !== 0x1b;
    if (runs > MAX_ZERO_RUNS || (isControl && !isZero)) return false;
  }
  // UTF-16 has a zero byte beside each letter.
  if (head.filter((byte) => byte !== NUL).length < 16 * runs) return false;
  return /^[\s\0]*[{[]/.test(head.toString('latin1', 0, 4_096)) || head.includes('\n{');
}

function refuseBinary(bytes: Buffer): void {
  const head = bytes.subarray(0, LOOKED_AT_BYTES);
  if (!head.includes(NUL) || isTextWithZeros(head)) return;
  const message = 'binary content, not text (or UTF-16 without a byte order mark)';
  throw new CoxswainError('format-unknown', message);
}

async function* convertUtf16(
  first: Buffer,
  encoding: 'utf-16le' | 'utf-16be',
  remainingChunks: AsyncIterator<Buffer>,
): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder(encoding);
  yield Buffer.from(decoder.decode(first, { stream: true }));
  for (let next = await remainingChunks.next(); next.done !== true; next = await remainingChunks.next()) {
    yield Buffer.from(decoder.decode(next.value, { stream: true }));
  }
  const last = decoder.decode();
  if (last !== '') yield Buffer.from(last);
}

function utf16Of(head: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  if (head[0] === 0xff && head[1] === 0xfe && !(head[2] === NUL && head[3] === NUL)) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  return undefined;
}

function hasUtf8Mark(head: Buffer): boolean {
  return head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf;
}
