import { isJsonObject } from '../base/json.ts';
import type { ValueBudget } from '../base/value-budget.ts';
import { decodesOf } from './decode-word.ts';
import { brokenField, decodeFields, jsonObject, repairOwn, type FieldDecodes } from './field-decode.ts';
import type { KnownKind, PayloadOf } from './field-types.ts';
import { fieldsOf, isKnownKind } from './kind-definition.ts';
import type { TrajectoryPayload, UnrecognisedPayload } from './trajectory-record.ts';

const DECODES = new Map<KnownKind, FieldDecodes>();

/** Decoders are created on demand, because a short-lived process reads few kinds. */
function decodesOfKind(kind: KnownKind): FieldDecodes {
  const decode = DECODES.get(kind);
  if (decode !== undefined) return decode;
  const decodes = decodesOf(fieldsOf(kind));
  DECODES.set(kind, decodes);
  return decodes;
}

/**
 * Decodes the `payload` of a record. A payload of an unknown kind becomes `unrecognised`, with the whole payload as its
 * `original`. Unknown fields are kept.
 *
 * @throws CoxswainError `invalid-record` with the path of the invalid field
 */
export function decodePayload(value: unknown): TrajectoryPayload {
  if (!isJsonObject(value)) throw brokenField('payload', 'an object', value);
  const kind = value['kind'];
  if (typeof kind !== 'string') throw brokenField('payload.kind', 'a text', kind);
  if (!isKnownKind(kind)) {
    // The value comes from decoded JSON and is an object, so it is a JsonObject.
    return { kind: 'unrecognised', original: value as UnrecognisedPayload['original'] };
  }
  // Every field in the definition of this kind was decoded.
  return decodeFields(value, decodesOfKind(kind), 'payload') as unknown as PayloadOf<KnownKind>;
}

/**
 * Converts a payload with arbitrary values from a host into a payload that `decodePayload` accepts. Both functions use the
 * same definitions. Repairs are counted in `limits`.
 *
 * Cost: one walk over each value, bounded by `limits`.
 *
 * @throws CoxswainError `invalid-record` if a required field is unusable
 */
export function repairPayload<Payload extends TrajectoryPayload>(payload: Payload, limits: ValueBudget): Payload;
export function repairPayload(payload: TrajectoryPayload, limits: ValueBudget): unknown {
  if (payload.kind === 'unrecognised')
    return { ...payload, original: jsonObject.repair(payload.original, limits, 'original') };
  // A payload is an object whose kind may be any text.
  return repairOwn({ ...payload }, decodesOfKind(payload.kind), limits);
}
