import { hashText } from './hash.ts';
import type { JsonObject } from './json.ts';

/** Bytes of which the digest is made, at most: the first and the last ones, and blocks spread evenly between them. */
const END_BYTES = 16_384;
const BLOCKS = 32;
const BLOCK_BYTES = 1_024;

/**
 * What is stored of bytes: `{ type: 'binary', name, bytes, digest }`. The digest is of all of them up to 64 KiB, and of a
 * spread sample above. Not for security.
 *
 * Cost: O(64 KiB) whatever the size.
 */
export function binaryMark(value: ArrayBufferView | ArrayBufferLike): JsonObject {
  const bytes = ArrayBuffer.isView(value)
    ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    : new Uint8Array(value);
  const name = Object.prototype.toString.call(value).slice(8, -1);
  return { type: 'binary', name, bytes: bytes.length, digest: digestOf(bytes) };
}

const DATA_URL = /^data:([\w.+/-]{1,100});base64,/;

/** The same of a `data:` URL in base64, such as a picture; undefined for any other text. */
export function dataUrlMark(text: string): JsonObject | undefined {
  const found = DATA_URL.exec(text.slice(0, 128));
  if (found?.[1] === undefined) return undefined;
  const from = found[0].length;
  const chars = text.length - from;
  const parts = samplesOf(chars).map(([start, end]) => text.slice(from + start, from + end));
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const bytes = Math.floor((chars * 3) / 4) - padding;
  return { type: 'binary', name: 'data URL', media_type: found[1], bytes, digest: hashText(parts.join(''), chars | 0) };
}

/** What a `Blob` or a `File` tells of itself; reading it would take time. */
export function blobMark(blob: { readonly size: number; readonly type: string }): JsonObject {
  return { type: 'binary', name: 'Blob', media_type: blob.type.slice(0, 100), bytes: blob.size };
}

/** True for what has the shape of a `Blob`. */
export function isBlob(value: object): value is { readonly size: number; readonly type: string } {
  // What any object answers for a name it does not have is undefined.
  const { size, type, arrayBuffer } = value as Readonly<Record<string, unknown>>;
  return typeof arrayBuffer === 'function' && Number.isSafeInteger(size) && typeof type === 'string';
}

function digestOf(bytes: Uint8Array): string {
  // One character a byte, each its own.
  const decoder = new TextDecoder('windows-1252');
  const parts = samplesOf(bytes.length).map(([start, end]) => decoder.decode(bytes.slice(start, end)));
  return hashText(parts.join(''), bytes.length | 0);
}

function samplesOf(length: number): readonly (readonly [number, number])[] {
  if (length <= 2 * END_BYTES + BLOCKS * BLOCK_BYTES) return [[0, length]];
  const step = (length - 2 * END_BYTES - BLOCK_BYTES) / (BLOCKS - 1);
  const blocks = Array.from({ length: BLOCKS }, (_, index): readonly [number, number] => {
    const start = END_BYTES + Math.floor(index * step);
    return [start, start + BLOCK_BYTES];
  });
  return [[0, END_BYTES], ...blocks, [length - END_BYTES, length]];
}
