import { CoxswainError } from '../../core/base/error.ts';

/** A text is binary if its beginning contains this byte. */
const NUL = 0;
const LOOKED_AT_BYTES = 64 * 1024;

/**
 * The bytes of a text as UTF-8, without a byte order mark. UTF-16 is converted if it has a byte order mark. Invalid UTF-8 is
 * passed on, and the decoder reports it.
 *
 * @throws CoxswainError `format-unknown` if the first 64 KiB contain a NUL byte; errors of `chunks` unchanged
 */
export async function* utf8Chunks(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const iterator = chunks[Symbol.asyncIterator]();
  try {
    const { bytes: first, fault } = await firstBytes(iterator);
    const encoding = utf16Of(first);
    if (encoding !== undefined) {
      yield* convertUtf16(first, encoding, iterator);
      return;
    }
    let searchedBytes = first.length;
    refuseBinary(first);
    const text = hasUtf8Mark(first) ? first.subarray(3) : first;
    if (text.length > 0) yield text;
    if (fault !== undefined) throw fault.error;
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
      const { value } = next;
      if (searchedBytes < LOOKED_AT_BYTES) refuseBinary(value.subarray(0, LOOKED_AT_BYTES - searchedBytes));
      searchedBytes += value.length;
      if (value.length > 0) yield value;
    }
  } finally {
    await iterator.return?.();
  }
}

interface FirstBytes {
  readonly bytes: Buffer;
  /** An error of the source that occurred after these bytes. The bytes are usable. */
  readonly fault: { readonly error: unknown } | undefined;
}

/** Reads until a byte order mark is complete. It reads no further, because a pipe may be slow. */
async function firstBytes(chunks: AsyncIterator<Buffer>): Promise<FirstBytes> {
  let bytes = Buffer.alloc(0);
  try {
    while (bytes.length < 4) {
      const next = await chunks.next();
      if (next.done === true) break;
      bytes = Buffer.concat([bytes, next.value]);
    }
  } catch (error) {
    return { bytes, fault: { error } };
  }
  return { bytes, fault: undefined };
}

/** Maximum number of stretches of zero bytes in a text that a crash or a loss of power damaged. */
const MAX_ZERO_RUNS = 64;

/** Returns true for a text with a few stretches of zero bytes, of which each takes a place of its own. */
function isTextWithZeros(head: Buffer): boolean {
  let runs = 0;
  let wasZero = false;
  for (const byte of head) {
    const isZero = byte === NUL;
    if (isZero && !wasZero) runs += 1;
    wasZero = isZero;
    const isControl = byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d && byte !== 0x1b;
    if (runs > MAX_ZERO_RUNS || (isControl && !isZero)) return false;
  }
  // UTF-16 has a zero byte beside each letter.
  if (head.filter((byte) => byte !== NUL).length < 16 * runs) return false;
  return /^[\s\0]*[{[]/.test(head.toString('latin1', 0, 4_096)) || head.includes('\n{');
}

function refuseBinary(bytes: Buffer): void {
  const head = bytes.subarray(0, LOOKED_AT_BYTES);
  if (!head.includes(NUL) || isTextWithZeros(head)) return;
  const message = 'binary content, not text (or UTF-16 without a byte order mark)';
  throw new CoxswainError('format-unknown', message);
}

async function* convertUtf16(
  first: Buffer,
  encoding: 'utf-16le' | 'utf-16be',
  remainingChunks: AsyncIterator<Buffer>,
): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder(encoding);
  yield Buffer.from(decoder.decode(first, { stream: true }));
  for (let next = await remainingChunks.next(); next.done !== true; next = await remainingChunks.next()) {
    yield Buffer.from(decoder.decode(next.value, { stream: true }));
  }
  const last = decoder.decode();
  if (last !== '') yield Buffer.from(last);
}

function utf16Of(head: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  if (head[0] === 0xff && head[1] === 0xfe && !(head[2] === NUL && head[3] === NUL)) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  return undefined;
}

function hasUtf8Mark(head: Buffer): boolean {
  return head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf;
}
