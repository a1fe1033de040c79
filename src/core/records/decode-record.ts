import { CoxswainError, messageOf } from '../base/error.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import { decodePayload, withSourceText, textToStore } from './decode-payload.ts';
import { amountDecode, brokenField, countDecode, textDecode } from './field-decode.ts';
import {
  TRAJECTORY_SCHEMA_VERSION,
  type TrajectoryRecord,
  type TrajectoryPayload,
  type UnrecognisedPayload,
} from './trajectory-record.ts';

/**
 * Decodes a JSON value into a record. It uses no library, because it runs in short-lived hook processes.
 *
 * - A missing `schema_version` or `depth` is 0; an optional field of null, such as `run_id`, is absent.
 * - A payload of an unknown kind becomes `{ kind: 'unrecognised', original }`, a content block of an unknown type `{ type:
 *   'other', value }`.
 * - Unknown fields are kept.
 *
 * Cost: one read of each known field; valid parts are not copied.
 *
 * @throws CoxswainError `schema-version` if the record has a newer schema
 * @throws CoxswainError `invalid-record` with the path of the first invalid field
 */
export function decodeRecord(value: unknown): TrajectoryRecord {
  if (!isJsonObject(value)) throw brokenField('record', 'an object', value);
  const version = value['schema_version'] ?? 0;
  countDecode(version, 'schema_version');
  if (Number(version) > TRAJECTORY_SCHEMA_VERSION) throw newerSchema(Number(version), value['seq']);
  countDecode(value['seq'], 'seq');
  amountDecode(value['recorded_at_unix_ms'], 'recorded_at_unix_ms');
  const depth = value['depth'] ?? 0;
  countDecode(depth, 'depth');

  const payload = decodePayload(value['payload']);
  if (payload.kind === 'gap' && payload.through_seq < Number(value['seq'])) {
    throw brokenField(
      'payload.through_seq',
      `at least the record's own seq ${String(value['seq'])}`,
      payload.through_seq,
    );
  }
  const hasId = isText(value['run_id'], 'run_id');
  const hasParent = isText(value['parent_run_id'], 'parent_run_id');
  const hasLateInput = isText(value['late_input_id'], 'late_input_id');
  const isUnchanged = version === value['schema_version'] && depth === value['depth'] && payload === value['payload'];
  // Every field of TrajectoryRecord was checked above.
  if (isUnchanged && hasId && hasParent && hasLateInput) return value as unknown as TrajectoryRecord;
  // The members keep their order, so that the record is encoded in its original form.
  const decodedFields: Record<string, unknown> = { ...value, schema_version: version, depth, payload };
  if (!hasId) delete decodedFields['run_id'];
  if (!hasParent) delete decodedFields['parent_run_id'];
  if (!hasLateInput) delete decodedFields['late_input_id'];
  return decodedFields as unknown as TrajectoryRecord;
}

/** A payload of an unknown kind keeps its text (`line` is that of the record). Throws CoxswainError as `decodeRecord`. */
export function decodeParsed(value: unknown, line: string): TrajectoryRecord {
  const record = decodeRecord(value);
  const { payload } = record;
  return payload.kind === 'unrecognised' ? { ...record, payload: withSourceText(payload, line) } : record;
}

/**
 * Parses one line of JSON and decodes it like `decodeRecord`. A payload of an unknown kind keeps its text, so that
 * `encodeRecord` writes it byte for byte.
 *
 * @throws CoxswainError `invalid-record` also if the text is not JSON
 */
export function parseRecord(line: string): TrajectoryRecord {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw new CoxswainError('invalid-record', `the text of a record is not JSON: ${messageOf(cause)}`, { cause });
  }
  return decodeParsed(value, line);
}

function isText(value: unknown, path: string): boolean {
  if (value === null) return false;
  if (value !== undefined) textDecode(value, path);
  return true;
}

function newerSchema(version: number, seq: unknown): CoxswainError {
  return new CoxswainError(
    'schema-version',
    `record ${String(seq)} has schema version ${version}, this version of coxswain reads up to ` +
      `${TRAJECTORY_SCHEMA_VERSION}; update coxswain to read it`,
    { details: { version, supported: TRAJECTORY_SCHEMA_VERSION } },
  );
}

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

function encodeAround(record: TrajectoryRecord, payloadText: string): string {
  const members: string[] = [];
  for (const [key, value] of Object.entries(record)) {
    const text = key === 'payload' ? payloadText : JSON.stringify(value);
    // `JSON.stringify` returns undefined for a member that JSON leaves out.
    if ((text as string | undefined) !== undefined) members.push(`${JSON.stringify(key)}:${text}`);
  }
  return `{${members.join(',')}}`;
}
