import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { CoxswainError } from '../src/core/base/error.ts';
import { isJsonObject } from '../src/core/base/json.ts';
import { recordSchema } from '../scripts/record-schema.ts';
import { decodeRecord, toStoredRecord } from '../src/core/records/decode-record.ts';
import { everyPayload } from './support/every-payload.ts';
import { mutatedJson } from './support/json-mutation.ts';
import { scriptRecord } from './support/script-records.ts';

/** The parts of JSON Schema that the file uses. */
interface SchemaNode {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, SchemaNode>>;
  readonly allOf?: readonly SchemaNode[];
  readonly anyOf?: readonly SchemaNode[];
  readonly if?: SchemaNode;
  readonly then?: SchemaNode;
  readonly type?: unknown;
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
}
type JsonObject = Readonly<Record<string, unknown>>;

// The tests below fail where it is not what they take it for.
const schema = recordSchema() as SchemaNode;
// Conditions name members that the branch they choose describes.
const isValid = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false }).compile(schema);

/** A record of every kind with every field, as it lies in a store. */
const records = everyPayload('a text').map((payload) => {
  const record = { ...scriptRecord({ runId: 'a', seq: 0, payload }), parent_run_id: 'b', late_input_id: 'c' };
  // A record is an object, and so is its payload.
  return JSON.parse(JSON.stringify(toStoredRecord(record))) as JsonObject & {
    readonly payload: { readonly kind: string };
  };
});

/** Whether it is a record; `beyond` for what no schema can say: a gap ends before it begins. */
function verdictOf(value: unknown): boolean | 'beyond' {
  try {
    decodeRecord(value);
    return true;
  } catch (thrown) {
    if (!(thrown instanceof CoxswainError)) throw thrown;
    return (
      thrown.details['path'] === 'payload.through_seq' && thrown.message.includes("the record's own seq") && 'beyond'
    );
  }
}

/** The schema of a value: its definition, of several the one that its kind, role or type chooses. */
function schemaOf(node: SchemaNode, value: unknown): SchemaNode {
  const found = node.$ref === undefined ? node : (schema.$defs?.[node.$ref.replace('#/$defs/', '')] ?? {});
  for (const branch of [...(found.allOf ?? []), ...(found.anyOf ?? [])]) {
    const isChosen = branch.if === undefined ? isOfType(branch, value) : isMet(branch.if, value);
    if (isChosen) return schemaOf(branch.then ?? branch, value);
  }
  return found;
}

function isMet(condition: SchemaNode, value: unknown): boolean {
  const members = Object.entries(condition.properties ?? {});
  return isJsonObject(value) && members.every(([key, wanted]) => value[key] === wanted.const);
}

function isOfType(node: SchemaNode, value: unknown): boolean {
  return node.type === (Array.isArray(value) ? 'array' : typeof value);
}

/** An object inside a record, its schema, and the record with another object in its place. */
interface Place {
  readonly path: string;
  readonly object: JsonObject;
  readonly properties: Readonly<Record<string, SchemaNode>>;
  readonly replace: (object: unknown) => unknown;
}

function* placesIn(
  value: unknown,
  node: SchemaNode,
  { path, replace }: Pick<Place, 'path' | 'replace'>,
): Generator<Place> {
  const own = schemaOf(node, value);
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const replaceItem = (other: unknown): unknown => replace(value.with(index, other));
      yield* placesIn(item, own.items ?? {}, { path: `${path}[${index}]`, replace: replaceItem });
    }
  } else if (isJsonObject(value) && own.properties !== undefined) {
    yield { path, object: value, properties: own.properties, replace };
    for (const [key, member] of Object.entries(value)) {
      const replaceMember = (other: unknown): unknown => replace({ ...value, [key]: other });
      yield* placesIn(member, own.properties[key] ?? {}, { path: `${path}.${key}`, replace: replaceMember });
    }
  }
}

const places = records.flatMap((record) => [
  ...placesIn(record, schema, { path: record.payload.kind, replace: (other) => other }),
]);

test('the schema describes every kind and every field, and nothing else', () => {
  const described = schema.$defs?.['payload']?.allOf?.map((branch) => branch.then?.$ref) ?? [];
  const known = records.map(({ payload }) => payload.kind).filter((kind) => kind !== 'new_kind');
  expect(described).toHaveLength(known.length);
  expect(new Set(described)).toEqual(new Set(known.map((kind) => `#/$defs/${kind}`)));
  expect(places.length).toBeGreaterThan(100);
  for (const { path, object, properties } of places) {
    if (path === 'new_kind.payload') continue;
    expect([path, Object.keys(object).toSorted()]).toEqual([path, Object.keys(properties).toSorted()]);
  }
});

test('every record is valid, and with any field missing or changed valid exactly where it can be read', () => {
  const probes = [undefined, null, 'a text', '', -1, 0.5, 3, 2 ** 53, true, false, [], [1], ['a'], {}, { a: 1 }];
  for (const record of records) expect([isValid(record), record]).toEqual([true, record]);
  for (const { path, object, properties, replace } of places) {
    for (const key of Object.keys(properties)) {
      let refusals = 0;
      for (const probe of probes) {
        const { [key]: _, ...rest } = object;
        const changed = replace(probe === undefined ? rest : { ...object, [key]: probe });
        const verdict = verdictOf(changed);
        if (verdict === 'beyond') continue;
        expect([path, key, probe, isValid(changed)]).toEqual([path, key, probe, verdict]);
        if (!verdict) refusals += 1;
      }
      // A field that the decoder does not look at would take anything, as the type of a part of a message does.
      expect([path, key, refusals > 0]).toEqual([path, key, key !== 'type']);
    }
  }
});

test('any change of any record leaves it valid exactly where it can be read', () => {
  const mutated = fc.constantFrom(...records).chain((record) => mutatedJson(record));
  const outcomes = new Map<unknown, number>();
  fc.assert(
    fc.property(mutated, (value) => {
      fc.pre(value !== undefined);
      const json: unknown = JSON.parse(JSON.stringify(value));
      const verdict = verdictOf(json);
      outcomes.set(verdict, (outcomes.get(verdict) ?? 0) + 1);
      expect(verdict === 'beyond' || isValid(json) === verdict).toBe(true);
    }),
    { numRuns: 4000 },
  );
  expect(outcomes.get(true)).toBeGreaterThan(100);
  expect(outcomes.get(false)).toBeGreaterThan(100);
});

test('unknown kinds and unknown fields are allowed', () => {
  for (const { replace, object } of places) expect(isValid(replace({ ...object, from_later: [1] }))).toBe(true);
  expect(isValid({ seq: 0, recorded_at_unix_ms: 0, payload: { kind: 'from_later', tool_name: 5 } })).toBe(true);
  expect(isValid({ schema_version: 2, seq: 0, recorded_at_unix_ms: 0, payload: { kind: 'turn_started' } })).toBe(false);
});
