import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isJsonObject } from '../base/json.ts';
import { almostConfig, anyConfig } from '../../test/support/config-arbitrary.ts';
import { mutatedJson } from '../../test/support/json-mutation.ts';
import { configFields } from './config-fields.ts';
import { problemText, type ConfigProblem } from './config-problem.ts';
import { decodeConfig } from './decode-config.ts';
import { isRegExp } from './decode-shape.ts';
import { typeOf } from './describe-shape.ts';
import type { Shape } from './shape.ts';

const SCHEMA_FILE = new URL('../../schema/coxswain.config.schema.json', import.meta.url);
const schema: unknown = JSON.parse(readFileSync(SCHEMA_FILE, 'utf8'));
const validate = new Ajv2020({ strict: true, allowUnionTypes: true, formats: { regex: isRegExp } }).compile(
  schema as object,
);

function problemsOf(value: unknown): readonly ConfigProblem[] {
  const decoded = decodeConfig(value);
  return 'problems' in decoded ? decoded.problems : [];
}

/** What the schema cannot say are limits of two fields against each other; the decoder finds them in what it accepts. */
function disagreement(value: unknown): string | undefined {
  const problems = problemsOf(value).filter(({ kind }) => kind !== 'together');
  const accepts = problems.length === 0;
  if (accepts === validate(value)) return undefined;
  return accepts
    ? `only the schema refuses: ${JSON.stringify(validate.errors)}`
    : `only we refuse: ${problems.map(problemText).join('; ')}`;
}

test('the schema and the decoder accept every configuration whose fields are in order', () => {
  fc.assert(
    fc.property(anyConfig(), (config) => {
      expect(problemsOf(config).filter(({ kind }) => kind !== 'together')).toEqual([]);
      expect([validate(config), validate.errors]).toEqual([true, null]);
    }),
    { numRuns: 500 },
  );
});

test('the schema and the decoder agree about values that are almost a configuration', () => {
  const seen = { accepted: 0, refused: 0 };
  fc.assert(
    fc.property(almostConfig(), (value) => {
      seen[validate(value) ? 'accepted' : 'refused'] += 1;
      expect(disagreement(value)).toBeUndefined();
    }),
    { numRuns: 4_000 },
  );
  expect(Math.min(seen.accepted, seen.refused)).toBeGreaterThan(200);
});

test('the schema and the decoder agree about configurations with anything put anywhere', () => {
  const value = anyConfig().chain((config) => mutatedJson(config));
  fc.assert(
    fc.property(value, (mutated) => {
      expect(disagreement(mutated)).toBeUndefined();
    }),
    { numRuns: 2_000 },
  );
});

/** What a schema says of a field in its own words, and what a shape says in the same. */
type FieldFacts = Readonly<Record<string, unknown>>;

/** Every word of a schema that limits a value, but those that hold further schemas. */
const LIMITS = [
  'minimum',
  'exclusiveMinimum',
  'maximum',
  'minLength',
  'maxLength',
  'pattern',
  'format',
  'enum',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'required',
  'propertyNames',
] as const;

function factsOfShape(shape: Shape): FieldFacts {
  const shapes = shape.kind === 'either' ? shape.shapes : [shape];
  const standard = shapes.map((one) => ('default' in one ? one.default : undefined)).find((one) => one !== undefined);
  return {
    ...Object.assign({}, ...shapes.map(limitsOf)),
    type: shapes.map((one) => (one.kind === 'number' && one.whole ? 'integer' : jsonType(typeOf(one)))).sort(),
    ...(standard === undefined ? {} : { default: standard }),
  };
}

function limitsOf(shape: Shape): FieldFacts {
  switch (shape.kind) {
    case 'number':
      return { [shape.above === true ? 'exclusiveMinimum' : 'minimum']: shape.min, maximum: shape.max };
    case 'text':
      return {
        ...(shape.minChars === undefined ? {} : { minLength: shape.minChars }),
        maxLength: shape.maxChars,
        ...(shape.pattern === undefined ? {} : { pattern: shape.pattern().source }),
        ...(shape.isPattern === true ? { format: 'regex' } : {}),
      };
    case 'choice':
      return { enum: shape.values };
    case 'list':
      return { ...(shape.minItems === 0 ? {} : { minItems: shape.minItems }), maxItems: shape.maxItems };
    case 'map':
      return { propertyNames: { minLength: 1, maxLength: shape.maxNameChars }, maxProperties: shape.maxItems };
    case 'object':
      return {
        ...(shape.required === undefined ? {} : { required: shape.required }),
        ...(shape.members === undefined ? {} : { minProperties: 1 }),
        ...(shape.members === 'one' ? { maxProperties: 1 } : {}),
      };
    case 'lazy':
      return limitsOf(shape.shape());
    default:
      return {};
  }
}

function jsonType(type: ReturnType<typeof typeOf>): string {
  return type === 'list' ? 'array' : type;
}

type SchemaNode = Readonly<Record<string, unknown>>;

function at(node: unknown, name: string): SchemaNode {
  const member = isJsonObject(node) ? node[name] : undefined;
  return isJsonObject(member) ? member : {};
}

/** Follows a reference, as an editor does; of alternatives all are looked at. */
function parts(node: SchemaNode): readonly SchemaNode[] {
  const reference = node['$ref'];
  if (typeof reference === 'string') return parts(at(at(schema, '$defs'), reference.replace('#/$defs/', '')));
  const any = node['anyOf'];
  return Array.isArray(any) ? any.filter(isJsonObject) : [node];
}

function fieldsOfSchema(node: SchemaNode, path: string, into: Map<string, SchemaNode>): Map<string, SchemaNode> {
  for (const part of parts(node)) {
    for (const [name, member] of Object.entries(at(part, 'properties'))) {
      const field = path === '' ? name : `${path}.${name}`;
      if (!isJsonObject(member)) throw new Error(`${field} is no schema`);
      into.set(field, member);
      // A situation contains situations; each is looked at once.
      if (!/\.when\.(?:allOf|anyOf|not|threshold\.of)$/.test(field)) fieldsOfSchema(member, field, into);
    }
    if (isJsonObject(part['items'])) fieldsOfSchema(part['items'], `${path}[]`, into);
    if (isJsonObject(part['additionalProperties'])) fieldsOfSchema(part['additionalProperties'], `${path}.*`, into);
  }
  return into;
}

function factsOfSchema(node: SchemaNode): FieldFacts {
  const all = parts(node);
  const given = LIMITS.map((word) => [word, all.map((part) => part[word]).find((value) => value !== undefined)]);
  const standard = node['default'];
  return {
    ...Object.fromEntries(given.filter(([, value]) => value !== undefined)),
    type: all.flatMap((part) => ('const' in part ? ['boolean'] : [part['type']].flat().map(String))).sort(),
    // A default trigger is an object; shapes hold none of those.
    ...(standard === undefined || typeof standard === 'object' ? {} : { default: standard }),
  };
}

/** Each field with its facts, and each list with those of its items. */
function withItems(fields: ReadonlyMap<string, SchemaNode>): ReadonlyMap<string, FieldFacts> {
  const all = new Map<string, FieldFacts>();
  for (const [path, node] of fields) {
    all.set(path, factsOfSchema(node));
    const items = at(node, 'items');
    if (Object.keys(items).length > 0) all.set(`${path}[]`, factsOfSchema(items));
    const values = at(node, 'additionalProperties');
    if (Object.keys(values).length > 0) all.set(`${path}.*`, factsOfSchema(values));
  }
  return all;
}

function shapesWithItems(): ReadonlyMap<string, FieldFacts> {
  const all = new Map<string, FieldFacts>();
  for (const { path, shape } of configFields()) {
    all.set(path, factsOfShape(shape));
    if (shape.kind === 'list') all.set(`${path}[]`, factsOfShape(shape.items));
    if (shape.kind === 'map') all.set(`${path}.*`, factsOfShape(shape.values));
  }
  return all;
}

test('every field of the decoder is in the schema and the other way round, with the same limits and default', () => {
  const ofSchema = withItems(fieldsOfSchema(schema as SchemaNode, '', new Map()));
  const ofShapes = shapesWithItems();
  expect([...ofSchema.keys()].sort()).toEqual([...ofShapes.keys()].sort());
  for (const [path, facts] of ofShapes) expect([path, ofSchema.get(path)]).toEqual([path, facts]);
});

test('the schema refuses names that it does not know, at every level', () => {
  const open = [...fieldsOfSchema(schema as SchemaNode, '', new Map())]
    .flatMap(([path, node]) => [node, at(node, 'items')].flatMap(parts).map((part) => [path, part] as const))
    .filter(([, part]) => 'properties' in part && part['additionalProperties'] !== false);
  expect(open.map(([path]) => path)).toEqual([]);
});

test('every field of the schema is explained, for editors', () => {
  const ofSchema = fieldsOfSchema(schema as SchemaNode, '', new Map());
  const mute = [...ofSchema].filter(([, node]) => typeof node['description'] !== 'string').map(([path]) => path);
  expect(mute).toEqual([]);
});
