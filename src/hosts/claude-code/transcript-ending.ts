import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

import { isJsonObject } from '../../base/json.ts';
import { endingAfter } from '../../formats/claude-code/claude-ending.ts';
import type { RunEnding } from '../../records/trajectory-record.ts';

/** The end of a transcript that is read. An entry that is longer hides the ones before it. */
const TAIL_BYTES = 64 * 1024;

/**
 * How a session ended, by the end of its transcript: no hook event says that a limit of turns was met, that the context was too long,
 * or that the agent was stopped at work.
 *
 * @returns undefined where the file is not there, is no regular file, or says nothing
 */
export function endingOfTranscript(path: string): RunEnding | undefined {
  let ending: RunEnding | undefined | 'same' = 'same';
  for (const line of tailOf(path).split('\n')) {
    const entry = parsed(line);
    if (!isJsonObject(entry) || entry['isSidechain'] === true) continue;
    const next = endingAfter(entry);
    if (next !== 'same') ending = next;
  }
  if (ending === 'same') return undefined;
  return ending ?? { outcome: 'aborted', reason: 'interrupted' };
}

function tailOf(path: string): string {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const facts = fstatSync(file);
    if (!facts.isFile()) return '';
    const bytes = Buffer.alloc(Math.min(TAIL_BYTES, facts.size));
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, facts.size - bytes.length));
  } catch {
    // The event counts more than the reason of the end: a transcript that cannot be read must not lose it.
    return '';
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // The first line is cut, and the last one may be half written.
    return undefined;
  }
}
