import { isJsonObject, type Json } from '../base/json.ts';
import type { Fields } from '../records/field-types.ts';
import { fieldsOf, isKnownKind } from '../records/kind-definition.ts';
import { BLOCKS, MESSAGES, SHAPES } from '../records/shapes.ts';
import type { TrajectoryPayload, UnrecognisedPayload } from '../records/trajectory-record.ts';
import { repeatsMembers } from '../records/unrecognised-text.ts';

/** What is done with the values of each class of field. */
export interface FieldWriter {
  /** Text of the agent, its model, its tools or its user. */
  readonly text: (text: string) => string;
  /** The same, as any JSON. */
  readonly json: (value: Json) => Json;
  /** What a tool gave back. */
  readonly result: (value: Json) => Json;
  /** A short word of the host's: a tool's name, an outcome, a channel. */
  readonly name: (text: string) => string;
  /** A host's id that joins records. */
  readonly id: (text: string) => string;
  /** Of the configuration, or worked out from records that were redacted. */
  readonly configured: (text: string) => string;
}

/** What is done with the value of one field. */
type FieldClass = (value: Json, writer: FieldWriter) => Json;

/** A closed set of words, a number, a flag, or an id that coxswain itself gave: never changed. */
const closed: FieldClass = (value) => value;
const content: FieldClass = (value, writer) => (typeof value === 'string' ? writer.text(value) : writer.json(value));
const configured: FieldClass = (value, writer) => eachText(value, writer.configured);

/**
 * What is done with a field, by the word of its definition without marks; what stands neither here nor among the shapes is
 * closed. The shapes of messages and the classes of words are made when they are first met: a short-lived process meets few.
 */
const CLASSES = new Map<string, FieldClass>([
  ['content', content],
  ['json', content],
  ['object', content],
  ['picture', content],
  ['result', (value, writer) => writer.result(value)],
  ['name', (value, writer) => eachText(value, writer.name)],
  ['id', (value, writer) => eachText(value, writer.id)],
  ['configured', configured],
  ['message', variantOf('role', MESSAGES)],
  ['block', variantOf('type', BLOCKS)],
  ['message_content', (value, writer) => (Array.isArray(value) ? classOf('block[]') : content)(value, writer)],
]);

/** Shapes whose items in a list are looked at one by one; texts of a list are redacted together. */
const OBJECTS: ReadonlySet<string> = new Set(['message', 'block', ...Object.keys(SHAPES)]);

function classOf(word: string): FieldClass {
  const known = CLASSES.get(word);
  if (known !== undefined) return known;
  const made = madeOf(word);
  CLASSES.set(word, made);
  return made;
}

function madeOf(word: string): FieldClass {
  if (word.endsWith('?')) return classOf(word.slice(0, -1));
  if (word.endsWith('|null')) return classOf(word.slice(0, -'|null'.length));
  if (word.endsWith('[]')) {
    const item = word.slice(0, -'[]'.length);
    return OBJECTS.has(item) ? listOf(classOf(item)) : classOf(item);
  }
  // What a speaker produced is stored with its name, which is no field of the shape.
  if (word === 'spoken_advice')
    return objectOf(SHAPES.spoken_advice, { providerName: configured, observerName: configured });
  const shapes: Readonly<Record<string, Fields>> = SHAPES;
  const shape = shapes[word];
  return shape === undefined ? closed : objectOf(shape);
}

function eachText(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value);
  return Array.isArray(value) ? mapItems(value, (item) => eachText(item, change)) : value;
}

/** The list with each item changed; the list itself when none was. */
function mapItems(items: readonly Json[], change: (item: Json) => Json): Json {
  let changed: Json[] | undefined;
  for (let at = 0; at < items.length; at += 1) {
    const item = items[at] ?? null;
    const made = change(item);
    if (made === item) continue;
    changed ??= [...items];
    changed[at] = made;
  }
  return changed ?? items;
}

function listOf(item: FieldClass): FieldClass {
  return (value, writer) =>
    Array.isArray(value) ? mapItems(value, (one) => item(one, writer)) : content(value, writer);
}

/** An object with these fields; any other field it has is content, unless `others` names it. */
function objectOf(fields: Fields, others: Readonly<Record<string, FieldClass>> = {}): FieldClass {
  const classes = new Map(Object.entries(others));
  for (const [name, word] of Object.entries(fields)) classes.set(name, classOf(word));
  return (value, writer) => {
    if (!isJsonObject(value)) return content(value, writer);
    let changed: Record<string, Json> | undefined;
    // The value is JSON, so what it holds is.
    const source = value as Readonly<Record<string, Json>>;
    for (const key in source) {
      const member = source[key];
      if (member === undefined || !Object.hasOwn(source, key)) continue;
      const made = (classes.get(key) ?? content)(member, writer);
      if (made === member) continue;
      changed ??= { ...source };
      changed[key] = made;
    }
    return changed ?? value;
  };
}

/** One of several objects, told apart by the field `by`; any other is content. */
function variantOf(by: string, variants: Readonly<Record<string, Fields>>): FieldClass {
  const made = new Map<string, FieldClass>();
  return (value, writer) => {
    const name = isJsonObject(value) ? value[by] : undefined;
    if (typeof name !== 'string' || !Object.hasOwn(variants, name)) return content(value, writer);
    const known = made.get(name) ?? objectOf(variants[name] ?? {}, { [by]: closed });
    made.set(name, known);
    return known(value, writer);
  };
}

const met = new Map<string, FieldClass>();

function redactPayloadOf(kind: string): FieldClass | undefined {
  const known = met.get(kind);
  if (known !== undefined || !isKnownKind(kind)) return known;
  const made = objectOf(fieldsOf(kind), { kind: closed });
  met.set(kind, made);
  return made;
}

const unrecognisedFields: FieldClass = objectOf(
  {},
  {
    kind: closed,
    original: objectOf({}, { kind: closed }),
    text: closed,
  },
);

/** Its text stays only where it says nothing that was not looked at. */
const unrecognised: FieldClass = (value, writer) => {
  const made = unrecognisedFields(value, writer);
  // Only a payload of this kind gets here.
  const payload = made as unknown as UnrecognisedPayload;
  if (payload.text === undefined || (made === value && !repeatsMembers(payload))) return made;
  const { text: _, ...rest } = payload;
  return { ...rest };
};

/** The payload with every field written as its class says; the payload itself when nothing changed. */
export function redactFields(payload: TrajectoryPayload, writer: FieldWriter): TrajectoryPayload {
  // A payload is JSON, and each class keeps the type of its field.
  return (redactPayloadOf(payload.kind) ?? unrecognised)(
    payload as unknown as Json,
    writer,
  ) as unknown as TrajectoryPayload;
}
