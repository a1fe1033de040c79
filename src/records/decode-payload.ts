import { isJsonObject } from '../base/json.ts';
import type { ValueBudget } from '../base/value-budget.ts';
import { decodesOf } from './decode-word.ts';
import { brokenField, decodeFields, jsonObject, mendOwn, type FieldDecodes } from './field-decode.ts';
import type { KnownKind, PayloadOf } from './field-types.ts';
import { fieldsOf, isKnownKind } from './kind-definition.ts';
import type { TrajectoryPayload, UnrecognisedPayload } from './trajectory-record.ts';

const DECODES = new Map<KnownKind, FieldDecodes>();

/** Made when a kind is first met: a short-lived process meets few. */
function decodesOfKind(kind: KnownKind): FieldDecodes {
  const known = DECODES.get(kind);
  if (known !== undefined) return known;
  const made = decodesOf(fieldsOf(kind));
  DECODES.set(kind, made);
  return made;
}

/**
 * Decodes the `payload` of a record. A kind that has no name here becomes `unrecognised` with the whole
 * payload as its `original`; fields that have no name here are kept.
 *
 * @throws CoxswainError `invalid-record` naming the path of the field
 */
export function decodePayload(value: unknown): TrajectoryPayload {
  if (!isJsonObject(value)) throw brokenField('payload', 'an object', value);
  const kind = value['kind'];
  if (typeof kind !== 'string') throw brokenField('payload.kind', 'a text', kind);
  if (!isKnownKind(kind)) {
    // The value is an object of decoded JSON, so it is a JsonObject.
    return { kind: 'unrecognised', original: value as UnrecognisedPayload['original'] };
  }
  // Every field that the definition of this kind names was decoded.
  return decodeFields(value, decodesOfKind(kind), 'payload') as unknown as PayloadOf<KnownKind>;
}

/**
 * The payload as one that `decodePayload` takes and JSON can say, whatever a host has put into it: the same definitions say what a
 * store refuses and what is mended before it gets there. What had to be mended is noted in `limits`.
 *
 * Cost: one look at each field, and one walk over each value, bounded by `limits`.
 *
 * @throws CoxswainError `invalid-record` where nothing can be made of a field that must be there
 */
export function mendPayload<Payload extends TrajectoryPayload>(payload: Payload, limits: ValueBudget): Payload;
export function mendPayload(payload: TrajectoryPayload, limits: ValueBudget): unknown {
  if (payload.kind === 'unrecognised')
    return { ...payload, original: jsonObject.mend(payload.original, limits, 'original') };
  // A payload is an object, and its kind, which no type of a host guards, is looked up as any text.
  return mendOwn({ ...payload }, decodesOfKind(payload.kind), limits);
}
