import { Buffer } from 'node:buffer';

import type { SqlitePages } from './sqlite-pages.ts';

/** A value of a row. Blobs are of no interest here and are given as undefined. */
export type CellValue = string | number | null | undefined;

/** More columns than any table of a store has. */
const MAX_COLUMNS = 8;
/** V8 holds no longer string, so nothing longer was ever written. */
const MAX_PAYLOAD_BYTES = 512 * 1024 * 1024;
/** Widths in bytes of the integers by their serial type, 1 to 6. */
const INTEGER_BYTES: readonly number[] = [0, 1, 2, 3, 4, 6, 8];

/**
 * The values of a cell of a table's leaf, as far as they can be had.
 *
 * @returns undefined for what is no row of a few columns, or one that the file does not hold whole
 */
export function readCell(pages: SqlitePages, page: Buffer, offset: number): readonly CellValue[] | undefined {
  const size = readVarint(page, offset);
  const rowId = size === undefined ? undefined : readVarint(page, size.end);
  if (size === undefined || rowId === undefined || size.value > MAX_PAYLOAD_BYTES) return undefined;
  const localBytes = localBytesOf(size.value, pages.pageBytes);
  const local = page.subarray(rowId.end, rowId.end + localBytes);
  const header = readHeader(local);
  if (local.length < localBytes || header === undefined) return undefined;
  // The lengths must add up before the chain of pages is followed: most damage ends here.
  if (header.bytes + header.types.reduce((sum, type) => sum + bytesOf(type), 0) !== size.value) return undefined;
  const payload =
    localBytes === size.value
      ? local
      : withOverflow(pages, { page, at: rowId.end + localBytes, local, bytes: size.value });
  if (payload === undefined) return undefined;
  let at = header.bytes;
  return header.types.map((type) => {
    const value = valueOf(type, payload.subarray(at, at + bytesOf(type)));
    at += bytesOf(type);
    return value;
  });
}

/** Lengths of the header of a row of `records`: its own length, the null of the id, and the types of the other columns. */
const LEAST_HEADER_BYTES = 5;
const MOST_HEADER_BYTES = 12;
/** Before the header stand the payload's length and the row's id, each of up to nine bytes. */
const LEAST_BYTES_BEFORE = 2;
const MOST_BYTES_BEFORE = 12;

/** Offsets at which a row of `records` may begin: `readCell` tells whether one does. */
export function* likelyCells(page: Buffer): Generator<number, void, void> {
  for (let at = page.indexOf(0, LEAST_BYTES_BEFORE); at >= 0; at = page.indexOf(0, at + 1)) {
    const headerBytes = page[at - 1] ?? 0;
    if (headerBytes < LEAST_HEADER_BYTES || headerBytes > MOST_HEADER_BYTES) continue;
    for (let before = LEAST_BYTES_BEFORE; before <= MOST_BYTES_BEFORE && before < at; before += 1)
      yield at - 1 - before;
  }
}

interface Varint {
  readonly value: number;
  readonly end: number;
}

function readVarint(bytes: Buffer, at: number): Varint | undefined {
  let value = 0;
  for (let index = 0; index < 9; index += 1) {
    const byte = bytes[at + index];
    if (byte === undefined) return undefined;
    if (index === 8) return { value: value * 256 + byte, end: at + 9 };
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return { value, end: at + index + 1 };
  }
  return undefined;
}

/** How many bytes of a payload stand in the cell itself; the rest is in overflow pages. */
function localBytesOf(bytes: number, pageBytes: number): number {
  const most = pageBytes - 35;
  if (bytes <= most) return bytes;
  const least = Math.floor(((pageBytes - 12) * 32) / 255) - 23;
  const wanted = least + ((bytes - least) % (pageBytes - 4));
  return wanted <= most ? wanted : least;
}

interface RowHeader {
  readonly types: readonly number[];
  readonly bytes: number;
}

function readHeader(local: Buffer): RowHeader | undefined {
  const size = readVarint(local, 0);
  if (size === undefined || size.value > local.length) return undefined;
  const types: number[] = [];
  let at = size.end;
  while (at < size.value) {
    const type = readVarint(local, at);
    if (type === undefined || types.length === MAX_COLUMNS || type.value === 10 || type.value === 11) return undefined;
    types.push(type.value);
    at = type.end;
  }
  return at === size.value ? { types, bytes: size.value } : undefined;
}

function bytesOf(type: number): number {
  if (type >= 12) return Math.floor((type - 12) / 2);
  return type === 7 ? 8 : (INTEGER_BYTES[type] ?? 0);
}

function withOverflow(
  pages: SqlitePages,
  {
    page,
    at,
    local,
    bytes,
  }: { readonly page: Buffer; readonly at: number; readonly local: Buffer; readonly bytes: number },
): Buffer | undefined {
  if (at + 4 > page.length) return undefined;
  const parts: Buffer[] = [local];
  let left = bytes - local.length;
  let next = page.readUInt32BE(at);
  // Each page takes some of what is left, so a chain that leads in circles ends too.
  while (left > 0) {
    const part = pages.readPage(next);
    if (part === undefined || part.length < 4) return undefined;
    const content = part.subarray(4, Math.min(part.length, 4 + left));
    if (content.length === 0) return undefined;
    parts.push(content);
    left -= content.length;
    next = part.readUInt32BE(0);
  }
  return Buffer.concat(parts);
}

function valueOf(type: number, bytes: Buffer): CellValue {
  if (type === 0) return null;
  if (type <= 5) return bytes.readIntBE(0, bytes.length);
  if (type === 6) return Number(bytes.readBigInt64BE());
  if (type === 7) return bytes.readDoubleBE();
  if (type <= 9) return type - 8;
  return type % 2 === 0 ? undefined : bytes.toString('utf8');
}
