import { CoxswainError, messageOf } from '../base/error.ts';
import type { JsonObject } from '../base/json.ts';
import { brokenField } from './field-decode.ts';
import type { TrajectoryPayload, TrajectoryRecord, UnrecognisedPayload } from './trajectory-record.ts';
import { textToStore } from './unrecognised-text.ts';

/** A record with the payload that lies on disk: an `unrecognised` one is its `original` again. */
interface StoredRecord extends Omit<TrajectoryRecord, 'payload'> {
  readonly payload: Exclude<TrajectoryPayload, UnrecognisedPayload> | JsonObject;
}

/** The form in which a record is stored. Cost: a shallow copy when the payload is `unrecognised`, else none. */
export function toStoredRecord(record: TrajectoryRecord): StoredRecord {
  const { payload } = record;
  // Without the `unrecognised` payload a record is a StoredRecord already.
  return payload.kind === 'unrecognised' ? { ...record, payload: payload.original } : (record as StoredRecord);
}

/**
 * One record as one line of JSON, without the line break. `parseRecord(line)` gives it back.
 * A lone surrogate is written as a `\u` escape, so the line is always valid UTF-8.
 *
 * @throws CoxswainError `invalid-record` when JSON cannot say it: a bigint, a cycle, nesting beyond the stack,
 *   or an unrecognised payload whose `original` has no `kind`
 */
export function encodeRecord(record: TrajectoryRecord): string {
  const stored = toStoredRecord(record);
  if (typeof stored.payload.kind !== 'string') throw brokenField('payload.kind', 'a text', stored.payload.kind);
  try {
    return record.payload.kind === 'unrecognised'
      ? encodeAround(record, textToStore(record.payload))
      : JSON.stringify(stored);
  } catch (cause) {
    throw new CoxswainError(
      'invalid-record',
      `record ${record.seq} cannot be written as JSON (${messageOf(cause)}); give only plain JSON values`,
      { details: { seq: record.seq }, cause },
    );
  }
}

/** The record as `JSON.stringify` writes it, with this text in the place of its payload. */
function encodeAround(record: TrajectoryRecord, payloadText: string): string {
  const members: string[] = [];
  for (const [key, value] of Object.entries(record)) {
    const text = key === 'payload' ? payloadText : JSON.stringify(value);
    // `JSON.stringify` answers undefined for what JSON leaves out, whatever its type says.
    if ((text as string | undefined) !== undefined) members.push(`${JSON.stringify(key)}:${text}`);
  }
  return `{${members.join(',')}}`;
}
