import { CoxswainError, messageOf } from '../base/error.ts';
import type { JsonObject } from '../base/json.ts';
import { brokenField } from './field-decode.ts';
import type { TrajectoryPayload, TrajectoryRecord, UnrecognisedPayload } from './trajectory-record.ts';
import { textToStore } from './unrecognised-text.ts';

/** A record as stored. An `unrecognised` payload is stored as its `original`. */
interface StoredRecord extends Omit<TrajectoryRecord, 'payload'> {
  readonly payload: Exclude<TrajectoryPayload, UnrecognisedPayload> | JsonObject;
}

/** Converts a record to its stored form. Cost: a shallow copy for an `unrecognised` payload, else none. */
export function toStoredRecord(record: TrajectoryRecord): StoredRecord {
  const { payload } = record;
  // A record without an `unrecognised` payload is already a StoredRecord.
  return payload.kind === 'unrecognised' ? { ...record, payload: payload.original } : (record as StoredRecord);
}

/**
 * Encodes a record as one line of JSON without the line break. `parseRecord` reads it. A lone surrogate is written as a
 * `\u` escape, so the line is valid UTF-8.
 *
 * @throws CoxswainError `invalid-record` if the record is not JSON: a bigint, a cycle, nesting beyond the stack, or an
 *   unrecognised payload whose `original` has no `kind`
 */
export function encodeRecord(record: TrajectoryRecord): string {
  const storedRecord = toStoredRecord(record);
  if (typeof storedRecord.payload.kind !== 'string')
    throw brokenField('payload.kind', 'a text', storedRecord.payload.kind);
  try {
    return record.payload.kind === 'unrecognised'
      ? encodeAround(record, textToStore(record.payload))
      : JSON.stringify(storedRecord);
  } catch (cause) {
    throw new CoxswainError(
      'invalid-record',
      `record ${record.seq} cannot be written as JSON (${messageOf(cause)}); give only plain JSON values`,
      { details: { seq: record.seq }, cause },
    );
  }
}

/** Returns the result of `JSON.stringify(record)` with this text as the payload. */
function encodeAround(record: TrajectoryRecord, payloadText: string): string {
  const members: string[] = [];
  for (const [key, value] of Object.entries(record)) {
    const text = key === 'payload' ? payloadText : JSON.stringify(value);
    // `JSON.stringify` returns undefined for a member that JSON leaves out.
    if ((text as string | undefined) !== undefined) members.push(`${JSON.stringify(key)}:${text}`);
  }
  return `{${members.join(',')}}`;
}
