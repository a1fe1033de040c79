import { Readable, pipeline } from 'node:stream';

import { CoxswainError, messageOf } from '../../base/error.ts';
import { alignToZstdFrames } from './zstd-frames.ts';

/** How a file is packed, told by its first bytes, whatever its name says. */
export type Packing = 'gzip' | 'zstd' | 'zip' | 'none';

/** A cut-off file loses up to one chunk of its last lines, so chunks are small. */
const CHUNK_BYTES = 64 * 1024;

/** Tells the packing by the first four bytes. */
export function packingOf(magic: Buffer): Packing {
  if (magic.length >= 2 && magic[0] === 0x1f && magic[1] === 0x8b) return 'gzip';
  if (magic.length < 4) return 'none';
  const word = magic.readUInt32LE(0);
  if (word === 0xfd2fb528 || word - (word % 16) === 0x184d2a50) return 'zstd';
  const isZip = word === 0x04034b50 || word === 0x06054b50 || word === 0x08074b50;
  return isZip ? 'zip' : 'none';
}

/**
 * Decompresses as a stream, also files of several members or frames.
 *
 * @throws CoxswainError `format-invalid` where the data is damaged or cut off (what came before was given);
 *   errors of the source as they are
 */
export async function* decompress(chunks: AsyncIterable<Buffer>, packing: 'gzip' | 'zstd'): AsyncGenerator<Buffer> {
  // Not imported: most sources are not packed.
  const { createGunzip, createZstdDecompress } = process.getBuiltinModule('node:zlib');
  const engine =
    packing === 'gzip' ? createGunzip({ chunkSize: CHUNK_BYTES }) : createZstdDecompress({ chunkSize: CHUNK_BYTES });
  const packed = packing === 'gzip' ? chunks : alignToZstdFrames(chunks);
  // The error of either end arrives below, where the engine is iterated.
  pipeline(Readable.from(packed, { objectMode: true, highWaterMark: 1 }), engine, () => {});
  try {
    // A decompressor without an encoding gives buffers.
    for await (const chunk of engine) yield chunk as Buffer;
  } catch (error) {
    throw decompressionError(error, packing);
  }
}

function decompressionError(error: unknown, packing: string): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (!/^(?:Z_|ZSTD_|ERR_ZLIB)/.test(code)) return error;
  const what = code === 'Z_BUF_ERROR' ? 'is cut off' : `is damaged (${messageOf(error)})`;
  return new CoxswainError('format-invalid', `the ${packing} data ${what}`, { details: { code }, cause: error });
}
