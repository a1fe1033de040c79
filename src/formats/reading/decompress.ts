import { pipeline, Readable } from 'node:stream';
import { CoxswainError, messageOf } from '../../core/base/error.ts';

/** Compression of a file, detected by its first bytes; the name is ignored. */
export type Packing = 'gzip' | 'zstd' | 'zip' | 'none';

/** The size is small, because a truncated compressed file loses up to one chunk of its last lines. */
const CHUNK_BYTES = 64 * 1024;

/** Detects the compression by the first four bytes. */
export function packingOf(magic: Buffer): Packing {
  if (magic.length >= 2 && magic[0] === 0x1f && magic[1] === 0x8b) return 'gzip';
  if (magic.length < 4) return 'none';
  const word = magic.readUInt32LE(0);
  if (word === 0xfd2fb528 || word - (word % 16) === 0x184d2a50) return 'zstd';
  const isZip = word === 0x04034b50 || word === 0x06054b50 || word === 0x08074b50;
  return isZip ? 'zip' : 'none';
}

/**
 * Decompresses as a stream, including files with several members or frames.
 *
 * @throws CoxswainError `format-invalid` if the data is damaged or truncated (after the data before the damage was yielded);
 * errors of the source unchanged
 */
export async function* decompress(chunks: AsyncIterable<Buffer>, packing: 'gzip' | 'zstd'): AsyncGenerator<Buffer> {
  // Loaded on demand, because most sources are not compressed.
  const { createGunzip, createZstdDecompress } = process.getBuiltinModule('node:zlib');
  const engine =
    packing === 'gzip' ? createGunzip({ chunkSize: CHUNK_BYTES }) : createZstdDecompress({ chunkSize: CHUNK_BYTES });
  const packedChunks = packing === 'gzip' ? chunks : alignToZstdFrames(chunks);
  // An error of the source or the decompressor is thrown below, where the decompressor is iterated.
  pipeline(Readable.from(packedChunks, { objectMode: true, highWaterMark: 1 }), engine, () => {});
  try {
    // A decompressor without an encoding yields buffers.
    for await (const chunk of engine) yield chunk as Buffer;
  } catch (error) {
    throw decompressionError(error, packing);
  }
}

function decompressionError(error: unknown, packing: string): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (!/^(?:Z_|ZSTD_|ERR_ZLIB)/.test(code)) return error;
  const damageText = code === 'Z_BUF_ERROR' ? 'is cut off' : `is damaged (${messageOf(error)})`;
  return new CoxswainError('format-invalid', `the ${packing} data ${damageText}`, { details: { code }, cause: error });
}

const FRAME_MAGIC = 0xfd2fb528;
/** Skippable frames have sixteen magic numbers. They differ only in the last four bits. */
const SKIPPABLE_MAGIC = 0x184d2a50;

type State = 'magic' | 'descriptor' | 'header' | 'block' | 'body' | 'checksum' | 'skip-size' | 'skip' | 'garbage';

/** Number of bytes to collect before the field of a state can be read. The other states only count bytes. */
const NEEDED: Partial<Record<State, number>> = { magic: 4, descriptor: 1, block: 3, 'skip-size': 4 };

/**
 * Splits a zstd stream so that no chunk contains a frame end followed by other bytes, and drops skippable frames. Node's
 * decompressor silently drops bytes that follow a frame end within one chunk. With split chunks it reads files with many
 * frames completely. `zstd` writes such files when it appends or compresses in parallel.
 *
 * Cost: reads a few bytes of each block; copies nothing.
 */
async function* alignToZstdFrames(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const frames = new FrameReader();
  for await (const chunk of chunks) yield* frames.cut(chunk);
  yield* frames.end();
}

class FrameReader {
  #state: State = 'magic';
  /** Bytes collected for the field of the current state, in little-endian order. */
  #collected: number[] = [];
  /** Number of bytes that remain in the states `header`, `body`, `checksum` and `skip`. */
  #remaining = 0;
  #hasChecksum = false;
  #isLastBlock = false;
  /** Buffered magic number. It is passed on when the frame is known not to be skippable. */
  #heldBack: Buffer | undefined;

  *cut(chunk: Buffer): Generator<Buffer> {
    let start = 0;
    let position = 0;
    while (position < chunk.length) {
      const stateBefore = this.#state;
      position += this.#consumeFrom(chunk, position);
      if (stateBefore === this.#state) continue;
      if (stateBefore === 'magic') {
        if (this.#heldBack !== undefined) yield this.#heldBack;
        start = position;
      } else if (this.#state === 'magic') {
        if (stateBefore !== 'skip' && stateBefore !== 'skip-size' && position > start)
          yield chunk.subarray(start, position);
        start = position;
      }
    }
    const isSkipped = this.#state === 'skip' || this.#state === 'skip-size' || this.#state === 'magic';
    if (!isSkipped && position > start) yield chunk.subarray(start, position);
  }

  /** Passes on a truncated magic number, so that the decompressor reports it. */
  *end(): Generator<Buffer> {
    if (this.#state === 'magic' && this.#collected.length > 0) yield Buffer.from(this.#collected);
  }

  /** Processes bytes in the current state and returns their number. */
  #consumeFrom(chunk: Buffer, position: number): number {
    if (this.#state === 'garbage') return chunk.length - position;
    const neededBytes = NEEDED[this.#state];
    if (neededBytes === undefined) {
      const skipped = Math.min(this.#remaining, chunk.length - position);
      this.#remaining -= skipped;
      if (this.#remaining === 0) this.#afterCounted();
      return skipped;
    }
    this.#collected.push(chunk[position] ?? 0);
    if (this.#collected.length === neededBytes) {
      const bytes = this.#collected;
      this.#collected = [];
      this.#afterCollected(bytes);
    }
    return 1;
  }

  #afterCollected(bytes: readonly number[]): void {
    const value = Buffer.from([...bytes, 0, 0, 0, 0]).readUInt32LE(0);
    switch (this.#state) {
      case 'magic':
        this.#heldBack = Buffer.from(bytes);
        if (value === FRAME_MAGIC) this.#state = 'descriptor';
        else if (value - (value % 16) === SKIPPABLE_MAGIC) {
          this.#heldBack = undefined;
          this.#state = 'skip-size';
        } else this.#state = 'garbage';
        return;
      case 'descriptor':
        this.#hasChecksum = (value & 4) !== 0;
        this.#expectBytes('header', headerBytes(value));
        return;
      case 'block': {
        this.#isLastBlock = (value & 1) !== 0;
        const isRepeatedByte = ((value >> 1) & 3) === 1;
        this.#expectBytes('body', isRepeatedByte ? 1 : value >> 3);
        return;
      }
      default:
        this.#expectBytes('skip', value);
    }
  }

  #afterCounted(): void {
    switch (this.#state) {
      case 'header':
        this.#state = 'block';
        return;
      case 'body':
        if (!this.#isLastBlock) this.#state = 'block';
        else if (this.#hasChecksum) this.#expectBytes('checksum', 4);
        else this.#state = 'magic';
        return;
      default:
        this.#state = 'magic';
    }
  }

  #expectBytes(state: 'header' | 'body' | 'checksum' | 'skip', bytes: number): void {
    this.#state = state;
    this.#remaining = bytes;
    if (bytes === 0) this.#afterCounted();
  }
}

/** Length of the frame header after its descriptor byte: window, dictionary id and content size. */
function headerBytes(descriptor: number): number {
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const window = isSingleSegment ? 0 : 1;
  const dictionary = [0, 1, 2, 4][descriptor & 3] ?? 0;
  const contentSize = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  return window + dictionary + contentSize;
}
