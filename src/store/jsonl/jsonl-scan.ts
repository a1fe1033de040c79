import { checkLine, lineInside } from './jsonl-line.ts';
import type { Segment } from './jsonl-names.ts';
import { segmentLines } from './jsonl-run-files.ts';
import type { RunFiles } from './jsonl-run-files.ts';

/** How far the last segment of a run is whole. */
export interface WholePart {
  /** Byte offset after the last append that is there to its end. */
  readonly wholeBytes: number;
  /** The first line that is not as it was written although a later write or the checkpoint shows that it was on disk. */
  readonly damagedLine?: number;
}

/**
 * Looks how far the last segment of a run is whole. What follows is either torn (the rest of a write that a crash
 * cut off and that nobody was promised) or damaged: then a write that begins after it, or the checkpoint, says that it
 * was once on disk.
 *
 * @param from  an offset where an append ends, the lines before it, and what `storedBytesOf` says
 * Cost: one pass over the bytes; no record is decoded.
 */
export async function findWholePart(
  run: RunFiles,
  segment: Segment,
  from: { readonly offset: number; readonly lines: number; readonly storedBytes: number },
): Promise<WholePart> {
  let wholeBytes = from.offset;
  let lineNumber = from.lines;
  let badLine: number | undefined;
  for await (const lines of segmentLines(run, segment, { fromOffset: from.offset })) {
    for (const line of lines) {
      lineNumber += 1;
      const checked = line.isComplete ? checkLine(line.bytes) : undefined;
      if (checked === undefined) {
        badLine ??= lineNumber;
        if (line.startOffset < from.storedBytes) return { wholeBytes, damagedLine: badLine };
      } else if (badLine === undefined) wholeBytes = checked.hasMore ? wholeBytes : line.endOffset;
      // Where a line break is damaged, the line after it is part of the damaged one.
      const later = checked ?? lineInside(line.bytes);
      if (badLine !== undefined && later?.beginsWrite === true) return { wholeBytes, damagedLine: badLine };
    }
  }
  return { wholeBytes };
}
