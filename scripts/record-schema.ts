import { fieldsOf, isKnownKind } from '../src/core/records/kind-definition.ts';
import { KINDS } from '../src/core/records/kinds.ts';
import { type Fields, BLOCKS, CHOICES, FIGURES, MESSAGES, SHAPES } from '../src/core/records/shapes.ts';
import { TRAJECTORY_SCHEMA_VERSION } from '../src/core/records/trajectory-record.ts';
import { docComments } from './doc-comments.ts';

type Node = Readonly<Record<string, unknown>>;

/** Schemas of the plain field types that `decode-word.ts` reads; any other type refers to the definition with that name. */
const PLAIN: Readonly<Record<string, Node>> = {
  ...Object.fromEntries(
    ['content', 'name', 'id', 'configured', 'own', 'picture'].map((word) => [word, { type: 'string' }]),
  ),
  ...Object.fromEntries(['json', 'result', 'unchecked_number'].map((word) => [word, { description: 'Any JSON.' }])),
  object: { type: 'object' },
  flag: { type: 'boolean' },
  true: { const: true },
  number: { type: 'number' },
  deadline: { type: 'number' },
  deadline_from_0: { $ref: '#/$defs/amount' },
};

const COMMENTS = new Map([
  ...docComments('src/core/records/shapes.ts'),
  // The tables of kinds have different names.
  ...[...docComments('src/core/records/kinds.ts'), ...docComments('src/core/records/advice-kinds.ts')].map(
    ([path, text]) => [path.replace(/^(?!DERIVED)[A-Z]+/, 'KINDS'), text] as const,
  ),
]);

/** The description of a kind in `kinds.ts`. */
export function aboutKind(kind: string): string | undefined {
  return COMMENTS.get(`KINDS.${kind}`);
}

/** The JSON Schema (2020-12) of a record: accepts the same input as the decoder. */
export function recordSchema(): Node {
  const known = Object.keys(KINDS).filter(isKnownKind);
  const orNull = (type: Node): Node => ({ anyOf: [type, { type: 'null' }] });
  const count = { $ref: '#/$defs/count' };
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:coxswain:trajectory-record:1',
    title: 'A record of a run',
    description: 'One record, as stored and exported by coxswain. Unknown fields are allowed everywhere and preserved.',
    type: 'object',
    required: ['seq', 'recorded_at_unix_ms', 'payload'],
    properties: {
      schema_version: {
        description: 'Absent or null in records written before versions existed.',
        ...orNull({ type: 'integer', minimum: 0, maximum: TRAJECTORY_SCHEMA_VERSION }),
      },
      seq: { ...count, description: 'Position in the run: starts at 0, without gaps.' },
      run_id: { description: 'Absent or null if unknown.', type: ['string', 'null'] },
      parent_run_id: { description: 'The run that started this one.', type: ['string', 'null'] },
      depth: { description: '0, absent or null for a root run.', ...orNull(count) },
      recorded_at_unix_ms: {
        $ref: '#/$defs/amount',
        description: 'Time of the event in Unix milliseconds; 0 if unknown.',
      },
      late_input_id: {
        description:
          'The input that produced this record, if it was stored later than it arrived. All records of that input share the value.',
        type: ['string', 'null'],
      },
      payload: { $ref: '#/$defs/payload' },
    },
    $defs: {
      count: {
        title: 'A whole number from 0',
        description: 'At most the largest integer that a double represents exactly.',
        type: 'integer',
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
      },
      amount: { title: 'A number from 0', type: 'number', minimum: 0 },
      payload: {
        title: 'What the record says',
        description: 'Other kinds are allowed, with any fields: they come from a later version or an importer.',
        ...oneOfThese('kind', known, ''),
        required: ['kind'],
        properties: { kind: { type: 'string', description: 'Selects the definition.' } },
      },
      ...Object.fromEntries(
        known.map((kind) => [kind, objectNode(`KINDS.${kind}`, { by: 'kind', name: kind, fields: fieldsOf(kind) })]),
      ),
      message: {
        title: 'A message of the transcript',
        ...oneOfThese('role', Object.keys(MESSAGES), 'message_'),
        required: ['role'],
        properties: { role: { enum: Object.keys(MESSAGES), description: 'Selects the definition.' } },
      },
      ...variants('MESSAGES', { by: 'role', prefix: 'message_', of: MESSAGES }),
      message_content: {
        title: 'The content of a message',
        description: 'Plain text, or parts in order.',
        anyOf: [{ type: 'string' }, { type: 'array', items: { $ref: '#/$defs/block' } }],
      },
      block: {
        title: 'A part of a message',
        description: 'Other types are allowed, with any fields.',
        ...oneOfThese('type', Object.keys(BLOCKS), 'block_'),
      },
      ...variants('BLOCKS', { by: 'type', prefix: 'block_', of: BLOCKS }),
      ...Object.fromEntries(
        Object.entries(CHOICES).map(([name, of]) => [name, { ...about(`CHOICES.${name}`), enum: of }]),
      ),
      ...Object.fromEntries(
        Object.entries<Fields>(FIGURES).map(([name, fields]) => [name, objectNode(`FIGURES.${name}`, { fields })]),
      ),
      ...Object.fromEntries(
        Object.entries<Fields>(SHAPES).map(([name, fields]) => [name, objectNode(`SHAPES.${name}`, { fields })]),
      ),
    },
  };
}

interface Variants {
  readonly by: string;
  readonly prefix: string;
  readonly of: Readonly<Record<string, Fields>>;
}

function variants(table: string, { by, prefix, of }: Variants): Node {
  return Object.fromEntries(
    Object.entries(of).map(([name, fields]) => [prefix + name, objectNode(`${table}.${name}`, { by, name, fields })]),
  );
}

/** A union discriminated by the member `by`. */
function oneOfThese(by: string, names: readonly string[], prefix: string): Node {
  return {
    type: 'object',
    allOf: names.map((name) => ({
      if: { required: [by], properties: { [by]: { const: name } } },
      // oxlint-disable-next-line unicorn/no-thenable -- the word of JSON Schema
      then: { $ref: `#/$defs/${prefix}${name}` },
    })),
  };
}

interface ObjectDefinition {
  readonly fields: Fields;
  /** The discriminating member and its value. */
  readonly by?: string;
  readonly name?: string;
}

function objectNode(path: string, { fields, by, name }: ObjectDefinition): Node {
  const discriminator = by === undefined ? [] : [by];
  const required = [
    ...discriminator,
    ...Object.keys(fields).filter((field) => !/[?]$|\|null$/.test(fields[field] ?? '')),
  ];
  return {
    ...about(path),
    type: 'object',
    ...(required.length === 0 ? {} : { required }),
    properties: {
      ...(by === undefined ? {} : { [by]: { const: name } }),
      ...Object.fromEntries(
        Object.entries(fields).map(([field, word]) => {
          const text = COMMENTS.get(`${path}.${field}`) ?? COMMENTS.get(`DERIVED.${field}`);
          return [field, { ...fieldNode(word), ...(text === undefined ? {} : { description: text }) }];
        }),
      ),
    },
  };
}

function fieldNode(word: string): Node {
  const base = word.replace(/\?$|\|null$/, '');
  // A missing field and null are the same.
  if (base !== word) return { anyOf: [fieldNode(base), { type: 'null' }] };
  if (base.endsWith('[]')) return { type: 'array', items: fieldNode(base.slice(0, -2)) };
  return PLAIN[base] ?? { $ref: `#/$defs/${base}` };
}

/** The first sentence of a comment as a title, the rest as a description. */
function about(path: string): Node {
  const [title = '', ...rest] = (COMMENTS.get(path) ?? '').split(/(?<=\.) (?=[A-Z`0-9])/);
  return {
    ...(title === '' ? {} : { title: title.replace(/\.$/, '') }),
    ...(rest.length === 0 ? {} : { description: rest.join(' ') }),
  };
}
