import { isJsonObject, type Json } from '../base/json.ts';
import { type Fields, type PlainWord, BLOCKS, MESSAGES, SHAPES } from '../records/shapes.ts';
import { fieldsOf, isKnownKind } from '../records/kind-definition.ts';
import type { TrajectoryPayload, UnrecognisedPayload } from '../records/trajectory-record.ts';
import { repeatsMembers } from '../records/decode-payload.ts';

export interface FieldWriter {
  /** Transforms text from the agent, its model, its tools or its user. */
  readonly text: (text: string) => string;
  /** Transforms such content of any JSON type. */
  readonly json: (value: Json) => Json;
  readonly result: (value: Json) => Json;
  /** Transforms a short word from the host: a tool name, an outcome, a channel. */
  readonly name: (text: string) => string;
  /** Transforms an id from the host that connects records. */
  readonly id: (text: string) => string;
  /** Transforms text from the configuration or text derived from redacted records. */
  readonly configured: (text: string) => string;
}

type FieldClass = (value: Json, writer: FieldWriter) => Json;

/** For a closed set of words, a number, a flag, or an id of coxswain. Such a value is never changed. */
const keepValue: FieldClass = (value) => value;
const redactContent: FieldClass = (value, writer) =>
  typeof value === 'string' ? writer.text(value) : writer.json(value);
const redactConfigured: FieldClass = (value, writer) => eachText(value, writer.configured);

/** The class of every plain word; the compiler requires one for a new word. Shapes and closed sets of words need none. */
const PLAIN: Readonly<Record<PlainWord, FieldClass>> = {
  content: redactContent,
  json: redactContent,
  object: redactContent,
  picture: redactContent,
  result: (value, writer) => writer.result(value),
  name: (value, writer) => eachText(value, writer.name),
  id: (value, writer) => eachText(value, writer.id),
  configured: redactConfigured,
  own: keepValue,
  flag: keepValue,
  true: keepValue,
  count: keepValue,
  amount: keepValue,
  number: keepValue,
  deadline: keepValue,
  deadline_from_0: keepValue,
  unchecked_number: keepValue,
  message: variantOf('role', MESSAGES),
  block: variantOf('type', BLOCKS),
  message_content: (value, writer) => (Array.isArray(value) ? classOf('block[]') : redactContent)(value, writer),
};

/** Other classes are built on first use: a short-lived process needs few. */
const CLASSES = new Map<string, FieldClass>(Object.entries(PLAIN));

/** Shapes whose list items are handled separately; a list of texts is redacted as a whole. */
const OBJECTS: ReadonlySet<string> = new Set(['message', 'block', ...Object.keys(SHAPES)]);

function classOf(word: string): FieldClass {
  const cachedClass = CLASSES.get(word);
  if (cachedClass !== undefined) return cachedClass;
  const newClass = buildClass(word);
  CLASSES.set(word, newClass);
  return newClass;
}

function buildClass(word: string): FieldClass {
  if (word.endsWith('?')) return classOf(word.slice(0, -1));
  if (word.endsWith('|null')) return classOf(word.slice(0, -'|null'.length));
  if (word.endsWith('[]')) {
    const item = word.slice(0, -'[]'.length);
    return OBJECTS.has(item) ? listOf(classOf(item)) : classOf(item);
  }
  // Advice is stored with the name of its source, which is not a field of the shape.
  if (word === 'spoken_advice')
    return objectOf(SHAPES.spoken_advice, { providerName: redactConfigured, observerName: redactConfigured });
  const shapes: Readonly<Record<string, Fields>> = SHAPES;
  const shape = shapes[word];
  return shape === undefined ? keepValue : objectOf(shape);
}

function eachText(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value);
  return Array.isArray(value) ? mapItems(value, (item) => eachText(item, change)) : value;
}

/** Changes the items of a list. Returns the same list if no item changes. */
export function mapItems(items: readonly Json[], change: (item: Json) => Json): readonly Json[] {
  let changedItems: Json[] | undefined;
  for (let position = 0; position < items.length; position += 1) {
    const item = items[position] ?? null;
    const changedItem = change(item);
    if (changedItem === item) continue;
    changedItems ??= [...items];
    changedItems[position] = changedItem;
  }
  return changedItems ?? items;
}

/** Changes the members of an object. Returns the same object if no member changes. */
export function mapMembers(
  source: Readonly<Record<string, Json>>,
  change: (key: string, member: Json) => Json,
): Readonly<Record<string, Json>> {
  let changedMembers: Record<string, Json> | undefined;
  for (const key in source) {
    const member = source[key];
    if (member === undefined || !Object.hasOwn(source, key)) continue;
    const changedMember = change(key, member);
    if (changedMember === member) continue;
    changedMembers ??= { ...source };
    changedMembers[key] = changedMember;
  }
  return changedMembers ?? source;
}

function listOf(item: FieldClass): FieldClass {
  return (value, writer) =>
    Array.isArray(value) ? mapItems(value, (one) => item(one, writer)) : redactContent(value, writer);
}

function objectOf(fields: Fields, otherClasses: Readonly<Record<string, FieldClass>> = {}): FieldClass {
  const classes = new Map(Object.entries(otherClasses));
  for (const [name, word] of Object.entries(fields)) classes.set(name, classOf(word));
  return (value, writer) => {
    if (!isJsonObject(value)) return redactContent(value, writer);
    // The value is JSON, so its members are.
    const source = value as Readonly<Record<string, Json>>;
    return mapMembers(source, (key, member) => (classes.get(key) ?? redactContent)(member, writer));
  };
}

function variantOf(by: string, variants: Readonly<Record<string, Fields>>): FieldClass {
  const classesByName = new Map<string, FieldClass>();
  return (value, writer) => {
    const name = isJsonObject(value) ? value[by] : undefined;
    if (typeof name !== 'string' || !Object.hasOwn(variants, name)) return redactContent(value, writer);
    const fieldClass = classesByName.get(name) ?? objectOf(variants[name] ?? {}, { [by]: keepValue });
    classesByName.set(name, fieldClass);
    return fieldClass(value, writer);
  };
}

const payloadClasses = new Map<string, FieldClass>();

function payloadClassOf(kind: string): FieldClass | undefined {
  const cachedClass = payloadClasses.get(kind);
  if (cachedClass !== undefined || !isKnownKind(kind)) return cachedClass;
  const newClass = objectOf(fieldsOf(kind), { kind: keepValue });
  payloadClasses.set(kind, newClass);
  return newClass;
}

const unrecognisedFields: FieldClass = objectOf(
  {},
  { kind: keepValue, original: objectOf({}, { kind: keepValue }), text: keepValue },
);

/** Keeps the source text only if all of it was checked. */
const redactUnrecognised: FieldClass = (value, writer) => {
  const redactedFields = unrecognisedFields(value, writer);
  // Only payloads of this kind are passed.
  const payload = redactedFields as unknown as UnrecognisedPayload;
  if (payload.text === undefined || (redactedFields === value && !repeatsMembers(payload))) return redactedFields;
  const { text: _, ...rest } = payload;
  return { ...rest };
};

export function redactFields(payload: TrajectoryPayload, writer: FieldWriter): TrajectoryPayload {
  // A payload is JSON, and each class keeps the type of its field.
  return (payloadClassOf(payload.kind) ?? redactUnrecognised)(
    payload as unknown as Json,
    writer,
  ) as unknown as TrajectoryPayload;
}
