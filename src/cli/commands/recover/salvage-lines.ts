import { basename } from 'node:path';

import { messageOf } from '../../../base/error.ts';
import { parseRecord } from '../../../records/decode-record.ts';
import type { TrajectoryRecord } from '../../../records/trajectory-record.ts';
import { nodeFileSystem } from '../../../store/file-system.ts';
import { readCheckpoint, storedBytesOf } from '../../../store/jsonl/jsonl-checkpoint.ts';
import { checkLine, jsonOfLine } from '../../../store/jsonl/jsonl-line.ts';
import { segmentsIn } from '../../../store/jsonl/jsonl-names.ts';
import { namesIn, segmentLines } from '../../../store/jsonl/jsonl-run-files.ts';
import { findWholePart } from '../../../store/jsonl/jsonl-scan.ts';

/** A record that could be read, or a place where one or more could not. */
export type Salvaged =
  | { readonly type: 'record'; readonly record: TrajectoryRecord }
  | { readonly type: 'damage'; readonly reason: string };

/**
 * What can be read of the folder of a run in a jsonl store: each line that is as it was written, whatever stands around
 * it. Never writes.
 */
export async function* salvageLines(folder: string): AsyncGenerator<Salvaged, void, void> {
  const run = { fileSystem: nodeFileSystem, folder };
  const checkpoint = await readCheckpoint(run).catch(() => undefined);
  const segments = segmentsIn(await namesIn(run));
  for (const segment of segments) {
    let number = 0;
    try {
      const mayBeTorn = segment === segments.at(-1) && !segment.isCompressed;
      const start = { offset: 0, lines: 0, storedBytes: storedBytesOf(segment, checkpoint) };
      const part = mayBeTorn ? await findWholePart(run, segment, start) : undefined;
      const tornFrom = part === undefined || part.damagedLine !== undefined ? Infinity : part.wholeBytes;
      for await (const lines of segmentLines(run, segment, { fromOffset: 0 })) {
        for (const { bytes, isComplete, startOffset } of lines) {
          number += 1;
          const found = isComplete ? recordIn(bytes) : 'the line has no end';
          const place = `${basename(folder)}/${segment.name}, line ${number}`;
          // Of an append that a crash cut off, what is there is kept, and nobody was promised the rest.
          if (typeof found === 'string' && startOffset >= tornFrom) continue;
          if (typeof found === 'string') yield { type: 'damage', reason: `${place}: ${found}` };
          else yield { type: 'record', record: found };
        }
      }
    } catch (error) {
      yield { type: 'damage', reason: `${basename(folder)}/${segment.name}: ${messageOf(error)}` };
    }
  }
}

function recordIn(line: Buffer): TrajectoryRecord | string {
  const checked = checkLine(line);
  if (checked === undefined) return 'the line is not as it was written';
  try {
    return parseRecord(jsonOfLine(checked));
  } catch (error) {
    return messageOf(error);
  }
}
