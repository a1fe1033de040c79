import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

import { isJsonObject, jsonOf } from '../../core/base/json.ts';

/** Number of bytes that are read at the end of a transcript. If an entry is longer, the entries before it are not found. */
const TAIL_BYTES = 256 * 1024;

/** Yields the entries at the end of a transcript. Yields nothing if the file is not a regular file of JSON lines. */
export function* transcriptTail(
  path: unknown,
  bytes: number = TAIL_BYTES,
): Generator<Readonly<Record<string, unknown>>> {
  // The first line of the tail is truncated, and the last one may be incomplete.
  for (const line of tailOf(path, bytes).split('\n')) {
    const entry = jsonOf(line);
    if (isJsonObject(entry)) yield entry;
  }
}

/** Maximum delay between an event of Copilot CLI and its entry in the transcript. The longest measured delay is 100 ms. */
const LAG_LIMIT_MS = 500;
const POLL_MS = 10;

/**
 * Returns the end of a transcript of Copilot CLI. Copilot CLI writes the transcript while the hook runs, so the function waits
 * until the transcript contains an entry from the time of the event. Empty if that takes longer than `limitMs`, or if the file
 * does not exist.
 */
export function copilotTail(
  path: unknown,
  { eventMs, limitMs = LAG_LIMIT_MS }: { readonly eventMs: number; readonly limitMs?: number },
): readonly Readonly<Record<string, unknown>>[] {
  for (let waitedMs = 0; waitedMs <= limitMs; waitedMs += POLL_MS) {
    const entries = [...transcriptTail(path)];
    const isComplete = entries.some(({ timestamp }) => Date.parse(String(timestamp)) >= eventMs);
    if (isComplete || entries.length === 0) return entries;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS);
  }
  return [];
}

/** Returns the last text of the agent. */
export function lastCopilotAnswer(entries: readonly Readonly<Record<string, unknown>>[]): string | undefined {
  for (const { data, type } of entries.toReversed()) {
    const text = type === 'assistant.message' && isJsonObject(data) ? data['content'] : undefined;
    if (typeof text === 'string' && text !== '') return text;
  }
  return undefined;
}

function tailOf(path: unknown, bytes: number): string {
  let file: number | undefined;
  try {
    file = openSync(String(path), constants.O_RDONLY | constants.O_NONBLOCK);
    const facts = fstatSync(file);
    if (!facts.isFile()) return '';
    const buffer = Buffer.alloc(Math.min(bytes, facts.size));
    return buffer.toString('utf8', 0, readSync(file, buffer, 0, buffer.length, facts.size - buffer.length));
  } catch {
    // The event is then recorded without data from the transcript.
    return '';
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
