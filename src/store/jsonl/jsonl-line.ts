import { Buffer } from 'node:buffer';
import { crc32 } from 'node:zlib';

import type { EncodedRecord } from '../check-batch.ts';

/*
 * A line is a record's JSON with one more member at its end, so that every tool for JSON lines can read it:
 *
 *     {"schema_version":1, … ,"line_check":"9f1c2a3b0"}
 *
 * The first eight digits are the CRC-32 of all bytes before `,"line_check"`, seeded with the last digit. That digit is the sum of
 * 1 (the next line belongs to the same append) and 2 (the first line of a write: everything before it was on disk).
 */

export interface CheckedLine {
  /** The JSON that was appended, byte for byte. */
  readonly json: string;
  readonly hasMore: boolean;
  readonly beginsWrite: boolean;
}

const CHECK_MEMBER = ',"line_check":"';
const CHECK_END = '"}';
const DIGITS = 9;
const TRAILER_BYTES = CHECK_MEMBER.length + DIGITS + CHECK_END.length;
const MEMBER_BYTES = Buffer.from(CHECK_MEMBER);
const END_BYTES = Buffer.from(CHECK_END);
const HAS_MORE = 1;
const BEGINS_WRITE = 2;

/** Checks one line. Returns undefined if it is damaged. Cost: one pass over its bytes. */
export function checkLine(line: Buffer): CheckedLine | undefined {
  const bodyBytes = line.length - TRAILER_BYTES;
  if (bodyBytes < 1) return undefined;
  const digitsOffset = bodyBytes + CHECK_MEMBER.length;
  const endOffset = digitsOffset + DIGITS;
  if (MEMBER_BYTES.compare(line, bodyBytes, digitsOffset) !== 0 || END_BYTES.compare(line, endOffset) !== 0)
    return undefined;
  const body = line.subarray(0, bodyBytes);
  const digits = line.toString('latin1', digitsOffset, endOffset);
  const flags = Number(digits.at(-1));
  if (!(flags <= (HAS_MORE | BEGINS_WRITE)) || digits !== checkDigits(body, flags)) return undefined;
  const json = `${body.toString()}}`;
  return { json, hasMore: (flags & HAS_MORE) !== 0, beginsWrite: (flags & BEGINS_WRITE) !== 0 };
}

/** Returns the bytes of one write. @param appends  the records of each append, at least one */
export function bytesOfWrite(appends: readonly (readonly Pick<EncodedRecord, 'json'>[])[]): Buffer {
  const lineParts = appends.flatMap((records, appendIndex) =>
    records.flatMap(({ json }, index) => {
      const hasMore = index < records.length - 1 ? HAS_MORE : 0;
      return encodeLine(json, appendIndex + index === 0 ? hasMore | BEGINS_WRITE : hasMore);
    }),
  );
  return Buffer.concat(lineParts);
}

function encodeLine(json: string, flags: number): readonly Buffer[] {
  const body = Buffer.from(json.slice(0, -1));
  return [body, Buffer.from(`${CHECK_MEMBER}${checkDigits(body, flags)}${CHECK_END}\n`, 'latin1')];
}

function checkDigits(body: Buffer, flags: number): string {
  return `${crc32(body, flags).toString(16).padStart(8, '0')}${flags}`;
}
