import { Buffer } from 'node:buffer';
import { crc32 } from 'node:zlib';

import type { EncodedRecord } from '../check-batch.ts';

/*
 * A line is a record's own JSON with one more member at its end, so that every tool that reads JSON lines reads it:
 *
 *     {"schema_version":1, … ,"line_check":"9f1c2a3b0"}
 *
 * The first eight digits are the CRC-32 of all bytes before `,"line_check"`, begun with the last digit. That one adds
 * up 1 (the next line belongs to the same append: all of them or none) and 2 (the first line of a write: what lies
 * before it was on disk when it was written).
 */

/** A line that is what was written. */
export interface CheckedLine {
  /** The JSON that was appended, byte for byte. */
  readonly json: string;
  readonly hasMore: boolean;
  readonly beginsWrite: boolean;
}

const MEMBER = ',"line_check":"';
const END = '"}';
const DIGITS = 9;
const TRAILER_BYTES = MEMBER.length + DIGITS + END.length;
const MEMBER_BYTES = Buffer.from(MEMBER);
const END_BYTES = Buffer.from(END);
const HAS_MORE = 1;
const BEGINS_WRITE = 2;

/** Checks one line. Cost: one pass over its bytes; undefined when it is not as it was written. */
export function checkLine(line: Buffer): CheckedLine | undefined {
  const bodyBytes = line.length - TRAILER_BYTES;
  if (bodyBytes < 1) return undefined;
  const digitsAt = bodyBytes + MEMBER.length;
  const endAt = digitsAt + DIGITS;
  if (MEMBER_BYTES.compare(line, bodyBytes, digitsAt) !== 0 || END_BYTES.compare(line, endAt) !== 0) return undefined;
  const body = line.subarray(0, bodyBytes);
  const digits = line.toString('latin1', digitsAt, endAt);
  const marks = Number(digits.at(-1));
  if (!(marks <= (HAS_MORE | BEGINS_WRITE)) || digits !== digitsOf(body, marks)) return undefined;
  const json = `${body.toString()}}`;
  return { json, hasMore: (marks & HAS_MORE) !== 0, beginsWrite: (marks & BEGINS_WRITE) !== 0 };
}

/** The lines of one append, which may be made while the disk has the write before. */
export interface AppendLines {
  readonly first: Buffer;
  /** The first line where the append begins a write. */
  readonly firstOfWrite: Buffer;
  readonly rest: Buffer;
}

/** @param records  at least one */
export function linesOfAppend(records: readonly Pick<EncodedRecord, 'json'>[]): AppendLines {
  const [first = { json: '{}' }, ...others] = records;
  const more = others.length > 0 ? HAS_MORE : 0;
  const rest = others.flatMap(({ json }, index) => lineOf(json, index < others.length - 1 ? HAS_MORE : 0));
  return {
    first: Buffer.concat(lineOf(first.json, more)),
    firstOfWrite: Buffer.concat(lineOf(first.json, more | BEGINS_WRITE)),
    rest: Buffer.concat(rest),
  };
}

/** The bytes of one write. */
export function bytesOfWrite(appends: readonly AppendLines[]): Buffer {
  return Buffer.concat(
    appends.flatMap(({ first, firstOfWrite, rest }, index) => [index === 0 ? firstOfWrite : first, rest]),
  );
}

function lineOf(json: string, marks: number): readonly Buffer[] {
  const body = Buffer.from(json.slice(0, -1));
  return [body, Buffer.from(`${MEMBER}${digitsOf(body, marks)}${END}\n`, 'latin1')];
}

function digitsOf(body: Buffer, marks: number): string {
  return `${crc32(body, marks).toString(16).padStart(8, '0')}${marks}`;
}
