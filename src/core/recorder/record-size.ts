import type { TrajectoryRecord } from '../records/trajectory-record.ts';

/** Estimated memory of a record without its payload: the other fields and the entry in the queue. */
const ENVELOPE_BYTES = 200;

/**
 * Estimates the memory of a waiting record in bytes: one per character, eight per number. Encoding every record a second
 * time would double the cost of recording.
 *
 * Cost: one walk over the values; it does not depend on text lengths.
 */
export function recordBytes(record: TrajectoryRecord): number {
  return ENVELOPE_BYTES + bytesOf(record.payload);
}

function bytesOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 8;
  let bytes = 16;
  if (Array.isArray(value)) {
    for (const item of value) bytes += bytesOf(item);
    return bytes;
  }
  for (const key in value) {
    // A record is plain JSON.
    bytes += key.length + 4 + bytesOf((value as Readonly<Record<string, unknown>>)[key]);
  }
  return bytes;
}
