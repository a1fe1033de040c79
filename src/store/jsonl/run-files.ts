import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createZstdDecompress } from 'node:zlib';

import { isMissing, type FileSystem } from '../file-system.ts';

/** The folder of one run. */
export interface RunFiles {
  readonly fileSystem: FileSystem;
  /** Absolute path. */
  readonly folder: string;
}

/** One file of a run's records. A run has one; earlier versions began another when one was full, and compressed the full ones. */
export interface Segment {
  readonly path: string;
  /** The `seq` of its first record, which names it. */
  readonly firstSeq: number;
  readonly isCompressed: boolean;
}

const SEQ_DIGITS = 16;
const SEGMENT = /^(\d{16})\.jsonl(\.zst)?$/;

/** The segment that begins with this record. */
export function segmentAt({ folder }: Pick<RunFiles, 'folder'>, firstSeq: number): Segment {
  const path = join(folder, `${String(firstSeq).padStart(SEQ_DIGITS, '0')}.jsonl`);
  return { path, firstSeq, isCompressed: false };
}

/** The segments of a run in order; of one that is there plain and compressed, the plain. */
export async function segmentsOf(run: RunFiles): Promise<readonly Segment[]> {
  const segments = new Map<number, Segment>();
  // `x.jsonl` sorts before `x.jsonl.zst`.
  for (const name of (await namesIn(run)).toSorted()) {
    const [, digits, packed] = SEGMENT.exec(name) ?? [];
    if (digits === undefined || segments.has(Number(digits))) continue;
    const firstSeq = Number(digits);
    segments.set(firstSeq, { path: join(run.folder, name), firstSeq, isCompressed: packed !== undefined });
  }
  return [...segments.values()];
}

/** The bytes of a segment from an offset on; of a compressed one, which is read from its start, all. */
export function bytesOf({ fileSystem }: RunFiles, segment: Segment, fromOffset: number): AsyncIterable<Buffer> {
  if (!segment.isCompressed) return fileSystem.read(segment.path, fromOffset);
  const packed = Readable.from(fileSystem.read(segment.path, 0));
  const unpacked = packed.pipe(createZstdDecompress());
  packed.on('error', (fault) => unpacked.destroy(fault));
  return unpacked;
}

/** True when there is no such run any more: its folder was removed since its name was read. */
export async function isGone({ fileSystem, folder }: RunFiles): Promise<boolean> {
  try {
    await fileSystem.list(folder);
    return false;
  } catch (thrown) {
    return isMissing(thrown);
  }
}

/** Bytes of the files of a run. Cost: a look at each file. */
export async function sizeOfRun(run: RunFiles): Promise<number> {
  let bytes = 0;
  for (const name of await namesIn(run)) bytes += (await run.fileSystem.facts(join(run.folder, name)))?.sizeBytes ?? 0;
  return bytes;
}

async function namesIn({ fileSystem, folder }: RunFiles): Promise<readonly string[]> {
  try {
    return await fileSystem.list(folder);
  } catch (thrown) {
    if (isMissing(thrown)) return [];
    throw thrown;
  }
}
