import { endingAfter } from '../../formats/claude-code/claude-ending.ts';
import type { RunEnding } from '../../core/records/trajectory-record.ts';
import { transcriptTail } from '../dialects/transcript-tail.ts';

/** Number of bytes that are read at the end of a transcript. */
const ENDING_BYTES = 512 * 1024;

/**
 * Returns how a session ended, from the end of its transcript. No hook event reports a turn limit, a context overflow or an
 * interruption.
 *
 * @returns undefined if the file is missing, is not a regular file, or contains no ending
 */
export function endingOfTranscript(path: string): RunEnding | undefined {
  let ending: RunEnding | undefined | 'same' = 'same';
  for (const entry of transcriptTail(path, ENDING_BYTES)) {
    if (entry['isSidechain'] === true) continue;
    const next = endingAfter(entry);
    if (next !== 'same') ending = next;
  }
  if (ending === 'same') return undefined;
  return ending ?? { outcome: 'aborted', reason: 'interrupted' };
}
