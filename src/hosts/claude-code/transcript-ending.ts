import { endingAfter } from '../../formats/claude-code/claude-ending.ts';
import type { RunEnding } from '../../records/trajectory-record.ts';
import { transcriptTail } from '../dialects/transcript-tail.ts';

/** The end of a transcript that is read. */
const ENDING_BYTES = 512 * 1024;

/**
 * How a session ended, by the end of its transcript: no hook event says that a limit of turns was met, that the context was too long,
 * or that the agent was stopped at work.
 *
 * @returns undefined where the file is not there, is no regular file, or says nothing
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
