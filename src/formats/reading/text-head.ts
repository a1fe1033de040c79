import { isUtf8 } from 'node:buffer';
import { CoxswainError } from '../../core/base/error.ts';
import type { ImportSource } from '../importer.ts';
import type { Candidates } from './choose-importer.ts';
import { decodeJson, type JsonText } from './json-text.ts';
import { LineReader, type TextLine } from './line-reader.ts';

export const HEAD_LINES = 32;
const HEAD_BYTES = 1024 * 1024;

export interface DecodedLine {
  readonly number: number;
  readonly terminated: boolean;
  /** Undefined if the line exceeded the limit. */
  readonly json: JsonText | undefined;
  readonly hasInvalidUtf8: boolean;
  readonly text?: string;
  /** Zero bytes of the line, which a crash leaves; the rest of the line is read. */
  readonly zeroBytes?: number;
  /** True for a line of a log that holds no JSON. It belongs to other programs and is not damage. */
  readonly isLogLine?: true;
}

/** The beginning of a text, which is long enough to recognise its format, and a reader for the rest. */
export interface TextHead {
  readonly lines: readonly DecodedLine[];
  /** All bytes that were read. Undefined if they are too many for a document. */
  readonly bytes: readonly Buffer[] | undefined;
  readonly isWhole: boolean;
  /** Set if the data after the head is damaged. No further data follows. */
  readonly fault: CoxswainError | undefined;
  /** Contains the beginning of the next line. */
  readonly reader: LineReader;
}

export interface TextContext {
  readonly source: ImportSource;
  readonly candidates: Candidates;
  readonly limits: { readonly lineBytes: number; readonly documentBytes: number };
}

export function decodeLine(line: TextLine): DecodedLine {
  const { number, terminated, bytes } = line;
  if (bytes === undefined) return { number, terminated, json: undefined, hasInvalidUtf8: false };
  const text = bytes.toString('utf8');
  const common = { number, terminated, hasInvalidUtf8: !isUtf8(bytes) };
  const json = decodeJson(text);
  if (json.ok) return { ...common, json, text };
  const zeroBytes = text.split('\0').length - 1;
  const plain = zeroBytes === 0 ? text : text.replaceAll('\0', '').trim();
  const damage = zeroBytes === 0 ? {} : { zeroBytes };
  const prefix = LOG_PREFIX.exec(plain)?.[0] ?? '';
  if (prefix === '') return { ...common, ...damage, json: zeroBytes === 0 ? json : decodeJson(plain), text: plain };
  const rest = plain.slice(prefix.length);
  const inLog: JsonText = /^[{[]/.test(rest) ? decodeJson(rest) : json;
  return { ...common, ...damage, json: inLog, text: inLog.ok ? rest : plain, ...(inLog.ok ? {} : { isLogLine: true }) };
}

/** What log collectors put before a line: a time, perhaps its level, or the name of a job and a bar. */
const LOG_PREFIX =
  /^(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.,:]{0,12}(?:Z|[+-]\d\d:?\d\d)?\]?:?[ \t]{1,4}|\[\d\d:\d\d:\d\d[\d.,]{0,8}\][ \t]{1,4}|[\w.-]{1,60}[ \t]{1,8}\|[ \t]{1,4})(?:\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|info|debug|warn|error|stdout|stderr)\]?:?[ \t]{1,4}(?:[FP] )?){0,2}/;

/** Stops after 32 lines, after 1 MiB with at least two lines, or at the end of the text. */
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
      const decoded = decodeLine(line);
      lines.push(decoded);
      if (line.bytes !== undefined && decoded.isLogLine !== true) readable += 1;
    }
  }
  const last = isWhole ? reader.end() : undefined;
  if (last !== undefined) lines.push(decodeLine(last));
  return { lines, bytes, isWhole, fault, reader };
}

/** Undefined at the end. The error of damaged compressed data ends the text; the data before is usable. */
export async function nextChunk(chunks: AsyncIterator<Buffer>): Promise<Buffer | CoxswainError | undefined> {
  try {
    const next = await chunks.next();
    return next.done === true ? undefined : next.value;
  } catch (error) {
    if (error instanceof CoxswainError && error.code === 'format-invalid') return error;
    throw error;
  }
}

/** Bytes that are not UTF-8 become U+FFFD, and `hasInvalidUtf8` is true. */
export async function wholeText(
  chunks: AsyncIterable<Buffer>,
  options: { readonly limitBytes: number; readonly tooLarge: () => CoxswainError },
): Promise<{ readonly text: string; readonly hasInvalidUtf8: boolean }> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > options.limitBytes) throw options.tooLarge();
    parts.push(chunk);
  }
  const whole = Buffer.concat(parts);
  const text = whole.toString('utf8');
  return { text: text.startsWith('\uFEFF') ? text.slice(1) : text, hasInvalidUtf8: !isUtf8(whole) };
}
