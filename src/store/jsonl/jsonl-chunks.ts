import { Buffer } from 'node:buffer';
import { Readable } from 'node:stream';
import { createZstdDecompress } from 'node:zlib';

import type { FileSystem } from '../file-system.ts';
import type { Segment } from './jsonl-names.ts';

const CHUNK_BYTES = 256 * 1024;

/** Which of a segment's bytes to read, counted before compression. */
interface ByteRange {
  readonly fromOffset: number;
  /** Default: to the end. */
  readonly toOffset?: number;
}

/**
 * A segment's bytes in order; a compressed one is decompressed. Each chunk is valid until the next is asked for.
 *
 * Cost: memory is about half a megabyte. A compressed segment is read from its start.
 *
 * Throws what the file system or the decompressor throws.
 */
export async function* readChunks(
  fileSystem: FileSystem,
  path: string,
  segment: Pick<Segment, 'isCompressed'>,
  { fromOffset, toOffset = Infinity }: ByteRange,
): AsyncGenerator<Buffer, void, void> {
  if (!segment.isCompressed) {
    yield* readPlain(fileSystem, path, fromOffset, toOffset);
    return;
  }
  let offset = 0;
  const packed = Readable.from(copies(readPlain(fileSystem, path, 0, Infinity)));
  const unpacked = packed.pipe(createZstdDecompress());
  packed.on('error', (fault) => unpacked.destroy(fault));
  for await (const given of unpacked) {
    // A decompressor gives buffers.
    const chunk = given as Buffer;
    const wanted = chunk.subarray(Math.max(0, fromOffset - offset), Math.max(0, toOffset - offset));
    offset += chunk.length;
    if (wanted.length > 0) yield wanted;
  }
}

async function* readPlain(
  fileSystem: FileSystem,
  path: string,
  fromOffset: number,
  toOffset: number,
): AsyncGenerator<Buffer, void, void> {
  const file = await fileSystem.open(path, 'read');
  try {
    // A small file does not need a large buffer.
    const sizeBytes = Math.min(toOffset, file.sizeBytes()) - fromOffset;
    const buffer = Buffer.allocUnsafe(Math.max(1, Math.min(CHUNK_BYTES, sizeBytes + 1)));
    for (let offset = fromOffset; offset < toOffset;) {
      const bytes = await file.read(buffer, offset);
      if (bytes === 0) return;
      const wanted = Math.min(bytes, toOffset - offset);
      yield buffer.subarray(0, wanted);
      offset += wanted;
    }
  } finally {
    await file.close();
  }
}

/** A stream keeps what it is given longer than until the next chunk. */
async function* copies(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) yield Buffer.from(chunk);
}
