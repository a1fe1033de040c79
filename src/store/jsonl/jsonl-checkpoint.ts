import type { Segment } from './jsonl-names.ts';
import type { RunProgress } from './jsonl-progress.ts';
import { readSealed, writeSealed } from './jsonl-sealed-file.ts';
import type { RunFiles } from './jsonl-run-files.ts';

const NAME = 'checkpoint.json';

/** A checkpoint of another version says nothing: summaries may have changed. */
const LAYOUT = 2;

/**
 * Saves how far a run has come, so that the next one to open it need not read it from its start, and knows what must
 * be there. Everything up to `progress` is on disk already.
 */
export async function writeCheckpoint(run: RunFiles, progress: RunProgress): Promise<void> {
  await writeSealed(run, NAME, JSON.stringify({ layout: LAYOUT, progress }));
}

/** The last checkpoint, or undefined where none is readable. */
export async function readCheckpoint(run: RunFiles): Promise<RunProgress | undefined> {
  const json = await readSealed(run, NAME);
  if (json === undefined) return undefined;
  // Its check agrees, so it is what `writeCheckpoint` wrote, of this version or another.
  const saved = JSON.parse(json) as { readonly layout: number; readonly progress: RunProgress };
  return saved.layout === LAYOUT ? saved.progress : undefined;
}

/** How many bytes of a segment a checkpoint says were stored: what is not as it was written there is damaged, not torn. */
export function storedBytesOf(segment: Segment, checkpoint: RunProgress | undefined): number {
  const segmentSeq = checkpoint?.place.segmentSeq ?? -1;
  if (segmentSeq > segment.firstSeq) return Infinity;
  return segmentSeq === segment.firstSeq ? (checkpoint?.place.endOffset ?? 0) : 0;
}
