import { Buffer } from 'node:buffer';

import { checkLine } from './jsonl-line.ts';
import { segmentsIn } from './jsonl-names.ts';
import type { LinePlace } from './jsonl-progress.ts';
import { namesIn, pathOf } from './jsonl-run-files.ts';
import type { RunFiles } from './jsonl-run-files.ts';

const LINE_BREAK = 0x0a;

/**
 * True when a line with this check lies at this place, and the lines before it from an offset on are as they were
 * written. In a compressed segment, which nobody changes, it does.
 *
 * @param fromOffset  where the first of the lines begins; default: the line at this place alone
 */
export async function holdsLine(
  run: RunFiles,
  place: LinePlace,
  fromOffset: number = place.startOffset,
): Promise<boolean> {
  const segment = segmentsIn(await namesIn(run)).find(({ firstSeq }) => firstSeq === place.segmentSeq);
  if (segment === undefined) return false;
  if (segment.isCompressed) return true;
  const file = await run.fileSystem.open(pathOf(run, segment.name), 'read');
  try {
    const lines = Buffer.alloc(place.endOffset - fromOffset);
    let filled = 0;
    while (filled < lines.length) {
      const bytes = await file.read(lines.subarray(filled), fromOffset + filled);
      if (bytes === 0) return false;
      filled += bytes;
    }
    return crcOfLast(lines) === place.crc;
  } finally {
    await file.close();
  }
}

/** The check of the last line; undefined when any of them is not as it was written. */
function crcOfLast(lines: Buffer): string | undefined {
  let crc: string | undefined;
  for (let start = 0; start < lines.length;) {
    const end = lines.indexOf(LINE_BREAK, start);
    const checked = end < 0 ? undefined : checkLine(lines.subarray(start, end));
    if (checked === undefined) return undefined;
    crc = checked.crc;
    start = end + 1;
  }
  return crc;
}
