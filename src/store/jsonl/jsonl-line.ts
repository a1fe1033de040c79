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
  readonly hasMore: boolean;
  readonly beginsWrite: boolean;
  /** The record's JSON without its closing brace. */
  readonly body: Buffer;
  /** Eight digits. */
  readonly crc: string;
}

const MEMBER = ',"line_check":"';
const END = '"}';
const DIGITS = 9;
const TRAILER_BYTES = MEMBER.length + DIGITS + END.length;
const MEMBER_BYTES = Buffer.from(MEMBER);
const END_BYTES = Buffer.from(END);
const DIGIT_BYTES = Buffer.from('0123456789abcdef');
const FIRST_DIGIT = 0x30;
const HAS_MORE = 1;
const BEGINS_WRITE = 2;
const LINE_BREAK = 0x0a;
/** UTF-8 takes at most three bytes for a UTF-16 unit. */
const BYTES_A_UNIT = 3;
/** A buffer up to this size is kept for the next write. */
const KEPT_BYTES = 4 * 1024 * 1024;
const LEAST_BYTES = 64 * 1024;
const NO_BYTES = Buffer.alloc(0);

/** Checks one line. Cost: one pass over its bytes, no copy; answers undefined when it is not as it was written. */
export function checkLine(line: Buffer): CheckedLine | undefined {
  const bodyBytes = line.length - TRAILER_BYTES;
  if (bodyBytes < 1) return undefined;
  const digitsAt = bodyBytes + MEMBER.length;
  const endAt = digitsAt + DIGITS;
  if (MEMBER_BYTES.compare(line, bodyBytes, digitsAt) !== 0 || END_BYTES.compare(line, endAt) !== 0) return undefined;
  const marks = (line[endAt - 1] ?? 0) - FIRST_DIGIT;
  if (marks < 0 || marks > (HAS_MORE | BEGINS_WRITE)) return undefined;
  const body = line.subarray(0, bodyBytes);
  const crc = line.toString('latin1', digitsAt, endAt - 1);
  if (crc !== crcText(crc32(body, marks))) return undefined;
  return { body, crc, hasMore: (marks & HAS_MORE) !== 0, beginsWrite: (marks & BEGINS_WRITE) !== 0 };
}

/** A line as it was written at the end of one that is not, whose line break is lost or is another byte. */
export function lineInside(bytes: Buffer): CheckedLine | undefined {
  for (let at = bytes.indexOf(MEMBER_BYTES); at >= 0; at = bytes.indexOf(MEMBER_BYTES, at + 1)) {
    const end = at + TRAILER_BYTES;
    const found = checkLine(bytes.subarray(end)) ?? checkLine(bytes.subarray(end + 1));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The JSON that was appended, byte for byte. */
export function jsonOfLine({ body }: CheckedLine): string {
  return `${body.toString()}}`;
}

/** The bytes of lines that go to a file in one write. The bytes are valid until the next `start`. */
export class LineBuffer {
  #buffer: Buffer = NO_BYTES;
  #length = 0;
  #lastCrc = 0;
  #lastLineAt = 0;
  #firstEnd = 0;

  /** Forgets the lines so far. */
  start(): void {
    this.#length = 0;
    if (this.#buffer.length > KEPT_BYTES) this.#buffer = NO_BYTES;
  }

  /** Adds the records of one append. */
  add(records: readonly Pick<EncodedRecord, 'json'>[]): void {
    let left = records.length;
    for (const { json } of records) {
      left -= 1;
      this.#addLine(json, (left > 0 ? HAS_MORE : 0) | (this.#length === 0 ? BEGINS_WRITE : 0));
    }
  }

  /** Adds the lines of another buffer, which hold one append. Cost: a copy. */
  join(other: LineBuffer): void {
    const start = this.#length;
    this.#reserve(other.#length);
    other.#buffer.copy(this.#buffer, start, 0, other.#length);
    this.#length += other.#length;
    this.#lastCrc = other.#lastCrc;
    this.#lastLineAt = start + other.#lastLineAt;
    if (start === 0) {
      this.#firstEnd = other.#firstEnd;
      return;
    }
    // Its first line is not the first of the write any more.
    const firstEnd = start + other.#firstEnd;
    const crc = this.#seal(start, firstEnd - TRAILER_BYTES - 1, firstEnd < this.#length ? HAS_MORE : 0);
    if (firstEnd === this.#length) this.#lastCrc = crc;
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** The check of the last line that was added. */
  get lastCrc(): string {
    return crcText(this.#lastCrc);
  }

  /** Where in `bytes` the last line begins. */
  get lastLineAt(): number {
    return this.#lastLineAt;
  }

  #addLine(json: string, marks: number): void {
    this.#reserve(json.length * BYTES_A_UNIT + TRAILER_BYTES + 1);
    const start = this.#length;
    // The trailer is written over the record's closing brace.
    const bodyEnd = start + this.#buffer.write(json, start) - 1;
    this.#lastCrc = this.#seal(start, bodyEnd, marks);
    this.#lastLineAt = start;
    this.#length = bodyEnd + TRAILER_BYTES + 1;
    if (start === 0) this.#firstEnd = this.#length;
  }

  /** Writes the trailer and the line break behind the body of a line. Answers its check. */
  #seal(start: number, bodyEnd: number, marks: number): number {
    const buffer = this.#buffer;
    const crc = crc32(buffer.subarray(start, bodyEnd), marks);
    // Byte by byte: working on text here took as long as all the rest of the line.
    let at = bodyEnd;
    for (let index = 0; index < MEMBER.length; index += 1) buffer[at++] = MEMBER_BYTES[index] ?? 0;
    for (let shift = 28; shift >= 0; shift -= 4) buffer[at++] = DIGIT_BYTES[(crc >>> shift) & 15] ?? 0;
    buffer[at++] = DIGIT_BYTES[marks] ?? 0;
    for (let index = 0; index < END.length; index += 1) buffer[at++] = END_BYTES[index] ?? 0;
    buffer[at] = LINE_BREAK;
    return crc;
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2, LEAST_BYTES));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}

function crcText(crc: number): string {
  return crc.toString(16).padStart(8, '0');
}
