import { Buffer } from 'node:buffer';

import { PAGE_BYTES, type SqlitePages } from './sqlite-pages.ts';

/** A column value. Blobs are not needed and are read as undefined. */
export type CellValue = string | number | null | undefined;

/** More columns than any table of a store has. */
const MAX_COLUMNS = 8;
/** The length of V8's longest string. No longer value was ever written. */
const MAX_PAYLOAD_BYTES = 512 * 1024 * 1024;
/** Width in bytes of the integers with serial types 1 to 6. */
const INTEGER_BYTES: readonly number[] = [0, 1, 2, 3, 4, 6, 8];

/** The values of a table leaf cell; undefined if it is not a row of a few columns or the file does not contain all of it. */
export function readCell(pages: SqlitePages, page: Buffer, offset: number): readonly CellValue[] | undefined {
  const size = readVarint(page, offset);
  const rowId = size === undefined ? undefined : readVarint(page, size.end);
  if (size === undefined || rowId === undefined || size.value > MAX_PAYLOAD_BYTES) return undefined;
  const localBytes = countLocalBytes(size.value);
  const local = page.subarray(rowId.end, rowId.end + localBytes);
  const header = readHeader(local);
  if (local.length < localBytes || header === undefined) return undefined;
  // Most damaged cells fail here, before the overflow chain is followed.
  if (header.bytes + header.types.reduce((sum, type) => sum + sizeOfType(type), 0) !== size.value) return undefined;
  const overflowOffset = rowId.end + localBytes;
  const payload =
    localBytes === size.value
      ? local
      : overflowOffset + 4 <= page.length
        ? readOverflow(pages, page.readUInt32BE(overflowOffset), { local, bytes: size.value })
        : undefined;
  if (payload === undefined) return undefined;
  let valueStart = header.bytes;
  return header.types.map((type) => {
    const value = decodeValue(type, payload.subarray(valueStart, valueStart + sizeOfType(type)));
    valueStart += sizeOfType(type);
    return value;
  });
}

/** Header length of a `records` row: its own length, the null of the id, and the types of the other columns. */
const MIN_HEADER_BYTES = 5;
const MAX_HEADER_BYTES = 12;
/** Before the header: the payload length and the row id, up to nine bytes each. */
const MIN_BYTES_BEFORE = 2;
const MAX_BYTES_BEFORE = 12;

/** Offsets at which a `records` row may begin; `readCell` decides. */
export function* findCellCandidates(page: Buffer): Generator<number, void, void> {
  for (let offset = page.indexOf(0, MIN_BYTES_BEFORE); offset >= 0; offset = page.indexOf(0, offset + 1)) {
    const headerBytes = page[offset - 1] ?? 0;
    if (headerBytes < MIN_HEADER_BYTES || headerBytes > MAX_HEADER_BYTES) continue;
    for (let before = MIN_BYTES_BEFORE; before <= MAX_BYTES_BEFORE && before < offset; before += 1)
      yield offset - 1 - before;
  }
}

interface Varint {
  readonly value: number;
  readonly end: number;
}

function readVarint(bytes: Buffer, start: number): Varint | undefined {
  let value = 0;
  for (let index = 0; index < 9; index += 1) {
    const byte = bytes[start + index];
    if (byte === undefined) return undefined;
    if (index === 8) return { value: value * 256 + byte, end: start + 9 };
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return { value, end: start + index + 1 };
  }
  return undefined;
}

/** Bytes of a payload in the cell itself; the rest is in overflow pages. */
function countLocalBytes(bytes: number): number {
  const maxLocalBytes = PAGE_BYTES - 35;
  if (bytes <= maxLocalBytes) return bytes;
  const minLocalBytes = Math.floor(((PAGE_BYTES - 12) * 32) / 255) - 23;
  const preferredBytes = minLocalBytes + ((bytes - minLocalBytes) % (PAGE_BYTES - 4));
  return preferredBytes <= maxLocalBytes ? preferredBytes : minLocalBytes;
}

function readHeader(local: Buffer): { readonly types: readonly number[]; readonly bytes: number } | undefined {
  const size = readVarint(local, 0);
  if (size === undefined || size.value > local.length) return undefined;
  const types: number[] = [];
  let offset = size.end;
  while (offset < size.value) {
    const type = readVarint(local, offset);
    if (type === undefined || types.length === MAX_COLUMNS || type.value === 10 || type.value === 11) return undefined;
    types.push(type.value);
    offset = type.end;
  }
  return offset === size.value ? { types, bytes: size.value } : undefined;
}

function sizeOfType(type: number): number {
  if (type >= 12) return Math.floor((type - 12) / 2);
  return type === 7 ? 8 : (INTEGER_BYTES[type] ?? 0);
}

function readOverflow(
  pages: SqlitePages,
  firstPage: number,
  { local, bytes }: { readonly local: Buffer; readonly bytes: number },
): Buffer | undefined {
  const chunks: Buffer[] = [local];
  let remainingBytes = bytes - local.length;
  let nextPage = firstPage;
  // Each page reduces `left`, so the loop also ends for a circular chain.
  while (remainingBytes > 0) {
    const page = pages.readPage(nextPage);
    if (page === undefined || page.length <= 4) return undefined;
    const content = page.subarray(4, Math.min(page.length, 4 + remainingBytes));
    chunks.push(content);
    remainingBytes -= content.length;
    nextPage = page.readUInt32BE(0);
  }
  return Buffer.concat(chunks);
}

function decodeValue(type: number, bytes: Buffer): CellValue {
  if (type === 0) return null;
  if (type <= 5) return bytes.readIntBE(0, bytes.length);
  if (type === 6) return Number(bytes.readBigInt64BE());
  if (type === 7) return bytes.readDoubleBE();
  if (type <= 9) return type - 8;
  return type % 2 === 0 ? undefined : bytes.toString('utf8');
}
