import { wordSet } from './word-set.ts';
import { hashText } from './hash.ts';
import type { JsonObject } from './json.ts';

/** The digest reads the first bytes, the last bytes, and evenly spaced blocks between them. */
const END_BYTES = 16_384;
const BLOCKS = 32;
const BLOCK_BYTES = 1_024;

/** The digest reads at most 64 KiB, of more bytes a sample. Not for security. */
export function binaryMark(value: ArrayBufferView | ArrayBufferLike): JsonObject {
  const bytes = ArrayBuffer.isView(value)
    ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    : new Uint8Array(value);
  const name = Object.prototype.toString.call(value).slice(8, -1);
  return { type: 'binary', name, bytes: bytes.length, digest: digestOf(bytes) };
}

const LEAST_CHARS = 64;
const DATA_URL = /^data:([\w.+/-]{1,100})(?:;[\w.+=-]{1,40}){0,3};base64,/;
const INNER_DATA_URL = /data:([\w.+/-]{1,100})(?:;[\w.+=-]{1,40}){0,3};base64,([A-Za-z0-9+/_-]{64,}={0,2})/g;
const BASE64 = /^[A-Za-z0-9+/_-]{64,}={0,2}$/;
const BYTE_MEMBERS: ReadonlySet<string> = wordSet('data base64 blob bytes image file_data b64_json');
const FILE_MEMBERS = ['media_type', 'mediaType', 'mimeType', 'mime_type', 'format'] as const;
const FILE_TYPES: ReadonlySet<unknown> = wordSet('base64 data image file media audio video document');

export function base64Mark(
  base64: string,
  mediaType: string,
): JsonObject & { readonly bytes: number; readonly digest: string } {
  const { length } = base64;
  const parts = samplesOf(length).map(([start, end]) => base64.slice(start, end));
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  const bytes = Math.floor((length * 3) / 4) - padding;
  return { type: 'binary', name: 'base64', media_type: mediaType, bytes, digest: hashText(parts.join(''), length | 0) };
}

/** A `data:` URL, or base64 text in a field of an object with a file type. Cost: one search for `;base64,`. */
export function bytesInText(
  text: string,
  member?: { readonly name: string; readonly of: object },
): JsonObject | string | undefined {
  if (text.length <= LEAST_CHARS) return undefined;
  const mediaType = member === undefined ? undefined : heldType(member);
  if (mediaType !== undefined && BASE64.test(text)) return base64Mark(text, mediaType);
  if (!text.includes(';base64,')) return undefined;
  const match = DATA_URL.exec(text.slice(0, 256));
  if (match?.[1] !== undefined && !/\s/.test(text.slice(0, 1_024)))
    return base64Mark(text.slice(match[0].length), match[1]);
  const textWithout = text.replace(INNER_DATA_URL, (_url, type: string, base64: string) => {
    const { bytes, digest } = base64Mark(base64, type);
    return `[${type}, ${bytes} bytes, digest ${digest}]`;
  });
  return textWithout === text ? undefined : textWithout;
}

function heldType({ name, of }: { readonly name: string; readonly of: object }): string | undefined {
  if (!BYTE_MEMBERS.has(name)) return undefined;
  // Any property name may be read from any object.
  const holder = of as Readonly<Record<string, unknown>>;
  const mediaType = FILE_MEMBERS.map((member) => holder[member]).find((type) => typeof type === 'string');
  if (typeof mediaType === 'string') return mediaType.slice(0, 100);
  return FILE_TYPES.has(holder['type']) ? 'application/octet-stream' : undefined;
}

/** Returns the mark of a `Blob` or `File`. The mark has no digest, because reading the bytes is asynchronous. */
export function blobMark(blob: { readonly size: number; readonly type: string }): JsonObject {
  return { type: 'binary', name: 'Blob', media_type: blob.type.slice(0, 100), bytes: blob.size };
}

export function isBlob(value: object): value is { readonly size: number; readonly type: string } {
  // A missing property reads as undefined.
  const { size, type, arrayBuffer } = value as Readonly<Record<string, unknown>>;
  return typeof arrayBuffer === 'function' && Number.isSafeInteger(size) && typeof type === 'string';
}

function digestOf(bytes: Uint8Array): string {
  // This encoding decodes each byte value to a different character.
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
