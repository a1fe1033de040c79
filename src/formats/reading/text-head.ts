import { isUtf8 } from 'node:buffer';

import { CoxswainError } from '../../core/base/error.ts';
import type { ImportSource } from '../importer.ts';
import type { Candidates } from './choose-importer.ts';
import { decodeJson, type JsonText } from './json-text.ts';
import { LineReader, type TextLine } from './line-reader.ts';

/** Number of lines that importers receive to recognise the format. */
export const HEAD_LINES = 32;
const HEAD_BYTES = 1024 * 1024;

export interface DecodedLine {
  /** 1-based. */
  readonly number: number;
  readonly terminated: boolean;
  /** Undefined if the line exceeded the limit. */
  readonly json: JsonText | undefined;
  readonly hasInvalidUtf8: boolean;
  /** Undefined if `json` is undefined. */
  readonly text?: string;
}

/** The beginning of a text, which is long enough to recognise its format, and a reader for the rest. */
export interface TextHead {
  /** Lines that are not empty. */
  readonly lines: readonly DecodedLine[];
  /** All bytes that were read. Undefined if they are too many for a document. */
  readonly bytes: readonly Buffer[] | undefined;
  /** True if the complete text was read. */
  readonly isWhole: boolean;
  /** Set if the data after the head is damaged. No further data follows. */
  readonly fault: CoxswainError | undefined;
  /** Contains the beginning of the next line. */
  readonly reader: LineReader;
}

/** Input for reading a text, apart from its bytes. */
export interface TextContext {
  readonly source: ImportSource;
  readonly candidates: Candidates;
  readonly limits: { readonly lineBytes: number; readonly documentBytes: number };
}

export function decodeLine(line: TextLine): DecodedLine {
  const { number, terminated, bytes } = line;
  if (bytes === undefined) return { number, terminated, json: undefined, hasInvalidUtf8: false };
  const text = bytes.toString('utf8');
  return { number, terminated, json: decodeJson(text), hasInvalidUtf8: !isUtf8(bytes), text };
}

/**
 * Reads the beginning of a text. It stops after 32 lines, after 1 MiB with at least two lines, or at the end of the text.
 *
 * Memory: at most the document limit, if a line is that long.
 */
export async function readTextHead(chunks: AsyncIterator<Buffer>, limits: TextContext['limits']): Promise<TextHead> {
  const reader = new LineReader(limits.lineBytes);
  const lines: DecodedLine[] = [];
  let bytes: Buffer[] | undefined = [];
  let byteCount = 0;
  let readable = 0;
  let fault: CoxswainError | undefined;
  let isWhole = false;
  while (readable < HEAD_LINES && (byteCount < HEAD_BYTES || readable < 2)) {
    const next = await nextChunk(chunks);
    if (next === undefined || next instanceof CoxswainError) {
      fault = next;
      isWhole = true;
      break;
    }
    byteCount += next.length;
    if (byteCount > limits.documentBytes) bytes = undefined;
    bytes?.push(next);
    for (const line of reader.push(next)) {
      lines.push(decodeLine(line));
      if (line.bytes !== undefined) readable += 1;
    }
  }
  const last = isWhole ? reader.end() : undefined;
  if (last !== undefined) lines.push(decodeLine(last));
  return { lines, bytes, isWhole, fault, reader };
}

/**
 * Returns the next chunk. Undefined at the end. Returns the error if compressed data is damaged, which ends the text; the
 * preceding data is usable.
 */
export async function nextChunk(chunks: AsyncIterator<Buffer>): Promise<Buffer | CoxswainError | undefined> {
  try {
    const next = await chunks.next();
    return next.done === true ? undefined : next.value;
  } catch (error) {
    if (error instanceof CoxswainError && error.code === 'format-invalid') return error;
    throw error;
  }
}
