import { isJsonObject } from '../base/json.ts';
import { type ValueBudget, toJson } from '../base/to-json.ts';
import {
  brokenField,
  decodeFields,
  jsonObject,
  repairOwn,
  type FieldDecodes,
  amountDecode,
  anyJson,
  anyNumber,
  countDecode,
  deadlineTime,
  fieldDecode,
  flagDecode,
  listDecode,
  literal,
  repairFields,
  nullable,
  objectOf,
  oneOf,
  optional,
  pathOf,
  textDecode,
  type FieldDecode,
} from './field-decode.ts';
import {
  type KnownKind,
  type PayloadOf,
  type Base,
  type Fields,
  type Word,
  BLOCKS,
  CHOICES,
  FIGURES,
  MESSAGES,
  SHAPES,
} from './shapes.ts';
import { fieldsOf, isKnownKind } from './kind-definition.ts';
import type { TrajectoryPayload, UnrecognisedPayload } from './trajectory-record.ts';
import { MAX_NAME_CHARS, shortName } from './short-names.ts';
import { withoutPicture } from './without-bytes.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Trimmed; the last of a repeated member. `json`: valid text of an object. Cost: one pass over the text, no recursion. */
export function memberText(json: string, name: string): string | undefined {
  let depth = 0;
  let key = '';
  let valueAt = 0;
  let foundText: string | undefined;
  for (let position = 0; position < json.length; position += 1) {
    switch (json.charCodeAt(position)) {
      case QUOTE: {
        const end = stringEnd(json, position);
        // A string between members is a member name.
        if (depth === 1 && valueAt === 0) key = json.slice(position, end);
        position = end - 1;
        break;
      }
      case COLON:
        if (depth === 1) valueAt = position + 1;
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        depth += 1;
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth -= 1;
        if (depth === 0 && valueAt > 0 && JSON.parse(key) === name) foundText = json.slice(valueAt, position).trim();
        break;
      case COMMA:
        if (depth !== 1) break;
        if (JSON.parse(key) === name) foundText = json.slice(valueAt, position).trim();
        valueAt = 0;
        break;
      default:
    }
  }
  return foundText;
}

/** Returns the number of members in all objects of a JSON text. Cost: one pass. */
export function countMembers(json: string): number {
  let count = 0;
  for (let position = 0; position < json.length; position += 1) {
    const unit = json.charCodeAt(position);
    if (unit === QUOTE) position = stringEnd(json, position) - 1;
    else if (unit === COLON) count += 1;
  }
  return count;
}

function stringEnd(json: string, start: number): number {
  for (let quote = json.indexOf('"', start + 1); quote >= 0; quote = json.indexOf('"', quote + 1)) {
    let position = quote;
    while (json.charCodeAt(position - 1) === BACKSLASH) position -= 1;
    if ((quote - position) % 2 === 0) return quote + 1;
  }
  return json.length;
}

/** Only if the values do not determine it (numbers, escapes, whitespace, duplicates). Line breaks become spaces. */
export function withSourceText(payload: UnrecognisedPayload, recordText: string): UnrecognisedPayload {
  const source = memberText(recordText, 'payload');
  if (source === undefined) return payload;
  // Inside a string, line breaks and lone surrogates are always escaped. These replacements therefore do not change
  // strings.
  const sourceText = source.replaceAll(/[\n\r]/g, ' ').replaceAll(/\p{Surrogate}/gu, unicodeEscape);
  const canonical = canonicalText(payload);
  return sourceText !== canonical && hasSameValues(sourceText, canonical) ? { ...payload, text: sourceText } : payload;
}

/** Returns the text to store: the source text, unless it differs from the values. Throws as `JSON.stringify`. */
export function textToStore(payload: UnrecognisedPayload): string {
  const { original, text } = payload;
  const canonical = JSON.stringify(original);
  if (text === undefined || /[\n\r]/.test(text) || !text.isWellFormed()) return canonical;
  return hasSameValues(text, canonical) ? text : canonical;
}

export function repeatsMembers(payload: UnrecognisedPayload): boolean {
  const canonical = canonicalText(payload);
  return canonical === undefined || countMembers(payload.text ?? canonical) !== countMembers(canonical);
}

function canonicalText({ original }: UnrecognisedPayload): string | undefined {
  try {
    return JSON.stringify(original);
  } catch {
    return undefined;
  }
}

function hasSameValues(text: string, canonical: string | undefined): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === canonical;
  } catch {
    return false;
  }
}

function unicodeEscape(surrogate: string): string {
  return `\\u${surrogate.charCodeAt(0).toString(16)}`;
}

const block: FieldDecode = fieldDecode(
  (value, path, key) => {
    const fieldPath = pathOf(path, key);
    if (!isJsonObject(value)) throw brokenField(fieldPath, 'an object', value);
    const decodes = decodesNamed(BLOCKS, 'type', value);
    return decodes === undefined ? { type: 'other', value } : decodeFields(value, decodes, fieldPath);
  },
  {
    repair: (value, budget) => {
      if (typeof value === 'string') return { type: 'text', text: budget.text(value) };
      const decodes = isJsonObject(value) ? decodesNamed(BLOCKS, 'type', value) : undefined;
      if (!isJsonObject(value) || decodes === undefined) return { type: 'other', value: toJson(value, budget) };
      return repairFields(withoutPicture(value), decodes, budget);
    },
  },
);

const blockList = listDecode(block);
const messageContent: FieldDecode = fieldDecode(
  (value, path, key) => (typeof value === 'string' ? value : blockList(value, path, key)),
  {
    repair: (value, budget, key) => {
      if (typeof value === 'string') return budget.text(value);
      // Some hosts send null content in a response that contains only calls.
      if (value === undefined || value === null) return '';
      return blockList.repair(Array.isArray(value) ? value : [value], budget, key);
    },
  },
);

const message: FieldDecode = fieldDecode(
  (value, path, key) => {
    const fieldPath = pathOf(path, key);
    if (!isJsonObject(value)) throw brokenField(fieldPath, 'a message', value);
    const decodes = decodesNamed(MESSAGES, 'role', value);
    if (decodes === undefined)
      throw brokenField(pathOf(fieldPath, 'role'), 'system, user, assistant or tool_result', value['role']);
    return decodeFields(value, decodes, fieldPath);
  },
  {
    repair: (value, budget, key) => {
      const fields = isJsonObject(value) ? value : { content: value };
      const decodes = decodesNamed(MESSAGES, 'role', fields);
      if (decodes !== undefined) return repairFields(fields, decodes, budget);
      budget.note('wrongTypes', `${key} is a message with an unknown role`);
      // The role is not `user`, because that would start a new task.
      const role = fields['role'] === 'tool' ? 'tool_result' : 'system';
      return repairFields({ ...fields, role }, variantDecodes(MESSAGES, 'role', role), budget);
    },
  },
);

const nameDecode: FieldDecode = fieldDecode((value, path, key) => textDecode(value, path, key), {
  ...textDecode,
  repair: (value, budget, key) => {
    const name = textDecode.repair(value, budget, key);
    if (typeof name !== 'string' || name.length <= MAX_NAME_CHARS) return name;
    budget.note('cutValues', `a name of ${name.length} characters`);
    // The cut of a text may leave out what tells two names apart.
    return shortName(typeof value === 'string' ? value : name);
  },
});

/** Decoders are added on demand, because a short-lived process reads few of these types. */
const DECODES_BY_WORD = new Map<string, FieldDecode>(
  Object.entries({
    content: textDecode,
    name: nameDecode,
    id: nameDecode,
    configured: textDecode,
    own: textDecode,
    picture: textDecode,
    json: anyJson,
    result: anyJson,
    object: jsonObject,
    flag: flagDecode,
    true: literal(true),
    count: countDecode,
    amount: amountDecode,
    number: anyNumber,
    deadline: deadlineTime(anyNumber),
    deadline_from_0: deadlineTime(amountDecode),
    unchecked_number: anyJson,
    message,
    message_content: messageContent,
    block,
  } satisfies Partial<Record<Base, FieldDecode>>),
);

function decodeOf(word: string): FieldDecode {
  const decodes = DECODES_BY_WORD.get(word);
  if (decodes !== undefined) return decodes;
  const decode = createDecode(word);
  DECODES_BY_WORD.set(word, decode);
  return decode;
}

function createDecode(word: string): FieldDecode {
  if (word.endsWith('?')) return optional(decodeOf(word.slice(0, -1)));
  if (word.endsWith('[]')) return listDecode(decodeOf(word.slice(0, -2)));
  if (word.endsWith('|null')) return nullable(decodeOf(word.slice(0, -5)));
  if (Object.hasOwn(CHOICES, word)) return oneOf(CHOICES[word as keyof typeof CHOICES]);
  // All other words are names of shapes.
  return objectOf(decodesOf({ ...FIGURES, ...SHAPES }[word as keyof typeof FIGURES | keyof typeof SHAPES]));
}

function decodesOf(fields: Fields): Readonly<Record<string, FieldDecode>> {
  return Object.fromEntries(Object.entries(fields).map(([name, word]: [string, Word]) => [name, decodeOf(word)]));
}

type Variants = typeof BLOCKS | typeof MESSAGES;
const VARIANTS = new Map<string, FieldDecodes>();

function decodesNamed(
  variants: Variants,
  discriminator: string,
  value: Readonly<Record<string, unknown>>,
): FieldDecodes | undefined {
  const name = value[discriminator];
  return typeof name === 'string' && Object.hasOwn(variants, name)
    ? variantDecodes(variants, discriminator, name)
    : undefined;
}

function variantDecodes(variants: Readonly<Record<string, Fields>>, discriminator: string, name: string): FieldDecodes {
  const cachedDecodes = VARIANTS.get(name);
  if (cachedDecodes !== undefined) return cachedDecodes;
  const decodes = { [discriminator]: literal(name), ...decodesOf(variants[name] ?? {}) };
  VARIANTS.set(name, decodes);
  return decodes;
}

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
 * A payload of an unknown kind becomes `unrecognised` with the whole as its `original`. Unknown fields are kept.
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
 * The result is one that `decodePayload` accepts, by the same definitions. Repairs are counted in `limits`, which bound
 * the cost.
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
