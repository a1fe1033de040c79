import { Buffer } from 'node:buffer';
import { Readable } from 'node:stream';
import { constants, crc32, createZstdCompress } from 'node:zlib';

import { CoxswainError } from '../../base/error.ts';
import { readChunks } from './jsonl-chunks.ts';
import { segmentsIn } from './jsonl-names.ts';
import type { Segment } from './jsonl-names.ts';
import { namesIn, pathOf } from './jsonl-run-files.ts';
import type { RunFiles } from './jsonl-run-files.ts';
import { removeIfThere } from './jsonl-sealed-file.ts';
import { writeFully } from '../write-fully.ts';

/** zstd's own default: 4 times smaller at about 200 MB/s on trajectories. */
const LEVEL = 3;

/**
 * Compresses every segment but the last. The plain file goes only when the disk has the compressed one and that
 * one, read back, gives the same bytes. Memory is bounded; the work is on other threads.
 *
 * Throws what the file system throws; the segment stays plain then.
 */
export async function compressClosedSegments(run: RunFiles): Promise<void> {
  const segments = segmentsIn(await namesIn(run));
  for (const segment of segments.slice(0, -1)) if (!segment.isCompressed) await compressSegment(run, segment);
}

async function compressSegment(run: RunFiles, segment: Segment): Promise<void> {
  const { fileSystem } = run;
  const name = `${segment.name}.zst`;
  const path = pathOf(run, name);
  const unfinished = `${path}.new`;
  const plain = pathOf(run, segment.name);
  const file = await fileSystem.open(unfinished, 'make');
  try {
    await file.truncate(0);
    const params = { [constants.ZSTD_c_compressionLevel]: LEVEL, [constants.ZSTD_c_checksumFlag]: 1 };
    const source = Readable.from(copies(readChunks(fileSystem, plain, segment, { fromOffset: 0 })));
    const packed = source.pipe(createZstdCompress({ params }));
    source.on('error', (fault) => packed.destroy(fault));
    // A compressor gives buffers.
    for await (const chunk of packed) await writeFully(file, chunk as Buffer);
    await file.sync();
  } finally {
    await file.close();
  }
  const [before, after] = [await digest(run, plain, false), await digest(run, unfinished, true)];
  if (before !== after) throw new CoxswainError('store-io', `${unfinished} does not give back ${segment.name}`);
  await fileSystem.rename(unfinished, path);
  await fileSystem.syncFolder(run.folder);
  await removeIfThere(run, segment.name);
}

async function digest(run: RunFiles, path: string, isCompressed: boolean): Promise<string> {
  let crc = 0;
  let bytes = 0;
  for await (const chunk of readChunks(run.fileSystem, path, { isCompressed }, { fromOffset: 0 })) {
    crc = crc32(chunk, crc);
    bytes += chunk.length;
  }
  return `${crc} ${bytes}`;
}

/** A stream keeps what it is given longer than until the next chunk. */
async function* copies(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) yield Buffer.from(chunk);
}
