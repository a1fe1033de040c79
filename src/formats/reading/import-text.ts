import { CoxswainError, messageOf } from '../../core/base/error.ts';
import { accepted, describeJson, type Recognition, surest } from './choose-importer.ts';
import { diagnosticItem, type ImportItem } from '../import-item.ts';
import { importLines } from './import-lines.ts';
import type { LineImport, LineImporter } from '../importer.ts';
import { decodeJson, type JsonText, locateFault } from './json-text.ts';
import { HEAD_LINES, readTextHead, type TextContext, type TextHead } from './text-head.ts';
import { wholeText } from './whole-text.ts';

/**
 * Reads a text as lines or as one document. The content decides, not the file name:
 *
 * - The first line is a complete JSON value and other lines follow: read as lines.
 * - The only line is a complete JSON value: the more confident importer is used. If two are equal, the document importer is
 *   used.
 * - The first line is not a complete JSON value: read as a document, unless most of the first lines are JSON, which indicates
 *   a damaged file of lines.
 *
 * @returns the items in groups; iterate each to its end before requesting the next
 * @throws CoxswainError `format-unknown`, `format-invalid`, `input-too-large`; errors of `chunks` unchanged
 */
export async function importText(
  chunks: AsyncIterator<Buffer>,
  context: TextContext,
): Promise<AsyncIterable<Iterable<ImportItem>>> {
  const head = await readTextHead(chunks, context.limits);
  if (head.lines.length === 0) {
    if (head.fault !== undefined) throw head.fault;
    throw new CoxswainError('format-unknown', 'the file is empty');
  }
  const importer = linesImporterFor(head, context);
  return importer === undefined
    ? importDocument(head, chunks, context)
    : importLines(head, chunks, importer.open(context.source));
}

/** Returns the importer for lines. Undefined if the text is a document. */
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
  return acceptedDespiteDamage(head, bestMatch, context);
}

function acceptedDespiteDamage(
  head: TextHead,
  bestMatch: Recognition<LineImporter> | undefined,
  context: TextContext,
): LineImporter {
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
 * Reads a text as one JSON document. The complete document is held in memory.
 *
 * @throws CoxswainError `input-too-large` if the text exceeds the document limit; `format-invalid` if it is damaged or nested
 * too deep; `format-unknown` if it is not JSON or no importer recognises it; errors of `chunks` unchanged
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
