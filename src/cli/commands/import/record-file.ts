import { CoxswainError, messageOf } from '../../../core/base/error.ts';
import { isJsonObject } from '../../../core/base/json.ts';
import { decodeParsed } from '../../../core/records/decode-record.ts';
import type { TrajectoryRecord } from '../../../core/records/trajectory-record.ts';
import { decompress, packingOf } from '../../../formats/reading/decompress.ts';
import { LineReader, type TextLine } from '../../../formats/reading/line-reader.ts';
import { openBytes } from '../../../formats/reading/open-bytes.ts';
import { nextChunk } from '../../../formats/reading/text-head.ts';

const LINE_BYTES = 64 * 1024 * 1024;

/** A line of a record file: a record or an error. */
export interface RecordLine {
  /** Line number from 1. */
  readonly line: number;
  readonly record: TrajectoryRecord | Error;
}

/**
 * Reads the output of `coxswain export` with one record per line. Decompresses gzip and zstd. Yields an error for an invalid line
 * and continues.
 *
 * @param path  a file, or `-` for standard input
 * @throws CoxswainError `format-unknown` for an empty file or if the first line does not resemble a record; `format-invalid` for
 *   truncated or damaged compressed data; `input-io`
 * Memory: a chunk, and a line of at most 64 MiB.
 */
export async function* readRecordFile(path: string): AsyncGenerator<RecordLine, void, void> {
  const openedFile = await openBytes(path, { stdin: process.stdin });
  try {
    const packing = packingOf(openedFile.magic);
    if (packing === 'zip') throw notRecords('it is a zip archive', path);
    const bytes = packing === 'none' ? openedFile.chunks : decompress(openedFile.chunks, packing);
    let isFirst = true;
    for await (const line of linesOf(bytes)) {
      const record = recordOf(line);
      if (isFirst && record instanceof NoRecord) throw notRecords(record.message, path);
      isFirst = false;
      yield { line: line.number, record };
    }
    if (isFirst) throw notRecords('it is empty', path);
  } finally {
    await openedFile.close();
  }
}

/** The line does not resemble a record. */
class NoRecord extends Error {}

async function* linesOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<TextLine, void, void> {
  const reader = new LineReader(LINE_BYTES);
  const chunks = bytes[Symbol.asyncIterator]();
  for (let chunk = await nextChunk(chunks); chunk !== undefined; chunk = await nextChunk(chunks)) {
    if (chunk instanceof CoxswainError) throw chunk;
    yield* reader.push(chunk);
  }
  const last = reader.end();
  if (last !== undefined) yield last;
}

function recordOf({ bytes }: TextLine): TrajectoryRecord | Error {
  if (bytes === undefined) return new Error('the line is over the limit of 64 MiB and is skipped');
  const text = bytes.toString();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return new NoRecord(`the line is not JSON: ${messageOf(error)}`);
  }
  if (!isJsonObject(value) || !('seq' in value) || !('payload' in value)) {
    return new NoRecord('the line lacks the fields of a record');
  }
  try {
    return decodeParsed(value, text);
  } catch (error) {
    return new Error(messageOf(error));
  }
}

function notRecords(reason: string, path: string): CoxswainError {
  const message = `not records of coxswain (${reason}); to record an agent's own file: coxswain analyze ${path} --store STORE`;
  return new CoxswainError('format-unknown', message);
}
