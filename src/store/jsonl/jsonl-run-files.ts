import { join } from 'node:path';

import { isMissing } from '../file-system.ts';
import type { FileSystem } from '../file-system.ts';
import { readChunks } from './jsonl-chunks.ts';
import { segmentsIn, segmentName } from './jsonl-names.ts';
import type { Segment } from './jsonl-names.ts';
import { readLines } from './read-lines.ts';
import type { FileLine } from './read-lines.ts';

/** The folder of one run. */
export interface RunFiles {
  readonly fileSystem: FileSystem;
  /** Absolute path. */
  readonly folder: string;
}

/** Which bytes of a segment to read; `toOffset` defaults to its end. */
interface Range {
  readonly fromOffset: number;
  readonly toOffset?: number;
}

/** The names in the folder; none where there is no folder. */
export async function namesIn(run: RunFiles): Promise<readonly string[]> {
  try {
    return await run.fileSystem.list(run.folder);
  } catch (thrown) {
    if (isMissing(thrown)) return [];
    throw thrown;
  }
}

/** The path of a file of the run. */
export function pathOf(run: RunFiles, name: string): string {
  return join(run.folder, name);
}

/**
 * The lines of a segment, a list at a time. Where it was compressed since it was listed, the compressed one is read.
 *
 * Throws what the file system or the decompressor throws.
 */
export async function* segmentLines(
  run: RunFiles,
  segment: Segment,
  range: Range,
): AsyncGenerator<readonly FileLine[], void, void> {
  try {
    yield* linesOf(run, segment, range);
  } catch (thrown) {
    // A segment is opened before its first line is given, so no line comes twice.
    if (!isMissing(thrown)) throw thrown;
    const now = segmentsIn(await namesIn(run)).find(({ firstSeq }) => firstSeq === segment.firstSeq);
    if (now === undefined || now.name === segment.name) throw thrown;
    yield* linesOf(run, now, range);
  }
}

/** The file that the next segment after these records would have. */
export function nextSegmentPath(run: RunFiles, lastSeq: number): string {
  return pathOf(run, segmentName(lastSeq + 1));
}

function linesOf(run: RunFiles, segment: Segment, range: Range): AsyncGenerator<readonly FileLine[], void, void> {
  const chunks = readChunks(run.fileSystem, pathOf(run, segment.name), segment, range);
  return readLines(chunks, range.fromOffset);
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
export async function bytesOfRun(run: RunFiles): Promise<number> {
  let bytes = 0;
  for (const name of await namesIn(run)) bytes += (await run.fileSystem.facts(pathOf(run, name)))?.sizeBytes ?? 0;
  return bytes;
}
