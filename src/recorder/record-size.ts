import type { TrajectoryRecord } from '../records/trajectory-record.ts';

/** What a record costs besides its payload: the envelope and the queue's own entry. */
const ENVELOPE_BYTES = 200;

/**
 * About the memory that a record takes while it waits, in bytes: one a character, eight a number. An estimate,
 * because encoding every record twice would double the cost of recording.
 *
 * Cost: one walk; a text costs the same whatever its length.
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
    // A record holds plain JSON, whose own enumerable members are all there is.
    bytes += key.length + 4 + bytesOf((value as Readonly<Record<string, unknown>>)[key]);
  }
  return bytes;
}
