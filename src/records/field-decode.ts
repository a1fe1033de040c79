import { CoxswainError, messageOf } from '../base/error.ts';
import { isJsonObject } from '../base/json.ts';
import { toJson } from '../base/to-json.ts';
import { readDeadlineTime, withoutDate } from '../base/unix-time.ts';
import type { ValueBudget } from '../base/value-budget.ts';
import { noteType, numberMeant } from './note-type.ts';

/**
 * What one field may hold, said once for both directions. Called, it takes the value of the field as it lies in a store and
 * gives what the rest of the program reads: usually the value itself.
 *
 * @param path  where the value lies, such as `payload.tool_name`; where `key` is given, that is its last part. They are put
 *   together only for an error, because every field of every record comes through here
 * @throws CoxswainError `invalid-record` naming the path
 */
export interface FieldDecode {
  (value: unknown, path: string, key?: string | number): unknown;
  /**
   * The value that a host gives as one that this field takes: cut, clamped or converted where it must be, each noted in the
   * budget. Undefined: nothing can be made of it. Throws only where reading the value does.
   */
  readonly mend: (value: unknown, budget: ValueBudget, key: string | number) => unknown;
  /** What stands in the field where it must be there and nothing can be made of its value; undefined: nothing may. */
  readonly fallback?: unknown;
}

/** How one field is decoded and mended. */
export function fieldDecode(
  decode: (value: unknown, path: string, key?: string | number) => unknown,
  mending: Pick<FieldDecode, 'mend' | 'fallback'>,
): FieldDecode {
  return Object.assign(decode, mending);
}

/** Decodes of the named fields of one kind of object. Fields not named are kept as they are. */
export type FieldDecodes = Readonly<Record<string, FieldDecode>>;

/** The whole path of a field. */
export function pathOf(path: string, key: string | number | undefined): string {
  if (key === undefined) return path;
  return typeof key === 'number' ? `${path}[${key}]` : `${path}.${key}`;
}

/** The error for a record that is broken at `path`. */
export function brokenField(path: string, expected: string, value: unknown): CoxswainError {
  return new CoxswainError('invalid-record', `${path} must be ${expected}, got ${nameOf(value)}`, {
    details: { path },
  });
}

function nameOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return `the text ${JSON.stringify(value.slice(0, 40))}`;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  return `a value of type ${typeof value}`;
}

export const textDecode: FieldDecode = fieldDecode(
  (value, path, key) => {
    if (typeof value === 'string') return value;
    throw brokenField(pathOf(path, key), 'a text', value);
  },
  {
    mend: (value, budget, key) => {
      if (typeof value === 'string') return budget.text(value);
      if (value === undefined || value === null) return undefined;
      noteType(budget, key, value);
      if (value instanceof Error) return budget.text(messageOf(value));
      const json = toJson(value, budget);
      return typeof json === 'string' ? json : budget.text(JSON.stringify(json));
    },
    fallback: '',
  },
);

export const flagDecode: FieldDecode = fieldDecode(
  (value, path, key) => {
    if (typeof value === 'boolean') return value;
    throw brokenField(pathOf(path, key), 'true or false', value);
  },
  {
    mend: (value, budget, key) => {
      if (typeof value === 'boolean') return value;
      if (value === undefined || value === null) return undefined;
      noteType(budget, key, value);
      return Boolean(value) && value !== 'false' && value !== '0';
    },
    fallback: false,
  },
);

/** A whole number from 0 that JavaScript holds exactly. */
export const countDecode: FieldDecode = fieldDecode(
  (value, path, key) => {
    if (Number.isSafeInteger(value) && Number(value) >= 0) return value;
    throw brokenField(pathOf(path, key), 'a whole number from 0', value);
  },
  {
    mend: (value, budget, key) => {
      if (typeof value === 'number' && value >= 0 && Number.isSafeInteger(value)) return value === 0 ? 0 : value;
      const number = numberMeant(value, budget, key);
      if (number === undefined || Number.isNaN(number) || number < 0) return undefined;
      return Math.min(Math.trunc(number), Number.MAX_SAFE_INTEGER);
    },
    fallback: 0,
  },
);

/** A finite number, also negative or broken. */
export const anyNumber: FieldDecode = fieldDecode(
  (value, path, key) => {
    if (Number.isFinite(value)) return value;
    throw brokenField(pathOf(path, key), 'a number', value);
  },
  {
    mend: (value, budget, key) => {
      if (typeof value === 'number' && Number.isFinite(value)) return value === 0 ? 0 : value;
      const number = numberMeant(value, budget, key);
      return Number.isFinite(number) ? number : undefined;
    },
    fallback: 0,
  },
);

/** A finite number from 0: a duration or a time in milliseconds. */
export const amountDecode: FieldDecode = fieldDecode(
  (value, path, key) => {
    if (Number.isFinite(value) && Number(value) >= 0) return value;
    throw brokenField(pathOf(path, key), 'a number from 0', value);
  },
  {
    mend: (value, budget, key) => {
      if (typeof value === 'number' && value >= 0 && value < Infinity) return value === 0 ? 0 : value;
      const number = numberMeant(value, budget, key);
      return number !== undefined && number >= 0 && number < Infinity ? number : undefined;
    },
    fallback: 0,
  },
);

/** A deadline, stored as `decode` takes it; a host may give it in another unit. */
export function deadlineTime(decode: FieldDecode): FieldDecode {
  return fieldDecode((value, path, key) => decode(value, path, key), {
    ...decode,
    mend: (value, budget, key) => {
      const atMs = amountDecode.mend(withoutDate(value), budget, key);
      if (typeof atMs !== 'number' || budget.nowMs === 0) return atMs;
      const { ms, fault, detail = '' } = readDeadlineTime(atMs, budget.nowMs);
      if (fault !== undefined) budget.note(fault, detail);
      return ms;
    },
  });
}

/** Whatever JSON can say, but not nothing. */
export const anyJson: FieldDecode = fieldDecode(
  (value, path, key) => {
    const type = typeof value;
    if (type !== 'undefined' && type !== 'function' && type !== 'symbol') return value;
    throw brokenField(pathOf(path, key), 'a JSON value', value);
  },
  { mend: toJson },
);

export const jsonObject: FieldDecode = fieldDecode(
  (value, path, key) => {
    if (isJsonObject(value)) return value;
    throw brokenField(pathOf(path, key), 'an object', value);
  },
  {
    mend: (value, budget, key) => {
      if (value === undefined || value === null) return undefined;
      const json = toJson(value, budget);
      if (isJsonObject(json)) return json;
      noteType(budget, key, value);
      return { value: json };
    },
    fallback: {},
  },
);

/** The field may be absent. */
export function optional(decode: FieldDecode): FieldDecode {
  return fieldDecode((value, path, key) => (value === undefined ? undefined : decode(value, path, key)), {
    mend: (value, budget, key) => (value === undefined || value === null ? undefined : decode.mend(value, budget, key)),
  });
}

export function nullable(decode: FieldDecode): FieldDecode {
  return fieldDecode((value, path, key) => (value === null ? null : decode(value, path, key)), {
    mend: (value, budget, key) => (value === undefined || value === null ? null : decode.mend(value, budget, key)),
    fallback: null,
  });
}

/** Exactly `only`: a field that is either absent or says one thing. */
export function literal(only: string | boolean): FieldDecode {
  return fieldDecode(
    (value, path, key) => {
      if (value === only) return value;
      throw brokenField(pathOf(path, key), JSON.stringify(only), value);
    },
    {
      mend: (value, budget, key) => {
        if (value === only) return value;
        if (value !== undefined && value !== false) noteType(budget, key, value);
        return undefined;
      },
      fallback: only,
    },
  );
}

/** One of a closed set of texts. */
export function oneOf(words: readonly string[]): FieldDecode {
  return fieldDecode(
    (value, path, key) => {
      if (typeof value === 'string' && words.includes(value)) return value;
      throw brokenField(pathOf(path, key), `one of ${words.join(', ')}`, value);
    },
    {
      mend: (value, budget, key) => {
        if (typeof value === 'string' && words.includes(value)) return value;
        noteType(budget, key, value);
        return undefined;
      },
    },
  );
}

/** A list, each item of which `decode` takes. */
export function listDecode(decode: FieldDecode): FieldDecode {
  return fieldDecode(
    (value, path, key) => {
      const own = pathOf(path, key);
      if (!Array.isArray(value)) throw brokenField(own, 'a list', value);
      const items: readonly unknown[] = value;
      let changed: unknown[] | undefined;
      for (const [index, item] of items.entries()) {
        const decoded = decode(item, own, index);
        if (decoded !== item) {
          changed ??= [...items];
          changed[index] = decoded;
        }
      }
      return changed ?? value;
    },
    {
      mend: (value, budget, key) => {
        if (value === undefined || value === null) return undefined;
        if (Array.isArray(value)) return mendItems(value, decode, budget);
        noteType(budget, key, value);
        return undefined;
      },
      fallback: [],
    },
  );
}

/** The items that something can be made of: as many of the first and of the last ones as the budget has nodes for. */
function mendItems(items: readonly unknown[], decode: FieldDecode, budget: ValueBudget): readonly unknown[] {
  const length = Number.isSafeInteger(items.length) ? Math.max(0, items.length) : 0;
  const kept = Math.min(length, budget.nodes);
  if (kept < length) budget.note('cutValues', `a list of ${length}`);
  budget.nodes -= kept;
  const head = Math.ceil(kept / 2);
  const made: unknown[] = [];
  for (let index = 0; index < kept; index += 1) {
    const at = index < head ? index : length - kept + index;
    const mended = decode.mend(items[at], budget, at) ?? decode.fallback;
    if (mended !== undefined) made.push(mended);
  }
  return made;
}

/** An object with these fields, and any others. */
export function objectOf(decodes: FieldDecodes): FieldDecode {
  return fieldDecode(
    (value, path, key) => {
      const own = pathOf(path, key);
      if (!isJsonObject(value)) throw brokenField(own, 'an object', value);
      return decodeFields(value, decodes, own);
    },
    {
      mend: (value, budget, key) => {
        if (isJsonObject(value)) return mendFields(value, decodes, budget);
        if (value !== undefined && value !== null) noteType(budget, key, value);
        return undefined;
      },
    },
  );
}

/**
 * The object as one that these fields take. Members that have no name here stay, as JSON; what must be there and is not gets
 * its fallback.
 *
 * Cost: one look at each named field, and a copy of the object, not of its texts.
 *
 * @throws CoxswainError `invalid-record` where a field must be there that nothing may stand for
 */
export function mendFields(
  source: Readonly<Record<string, unknown>>,
  decodes: FieldDecodes,
  budget: ValueBudget,
): Readonly<Record<string, unknown>> {
  return mendOwn({ ...source }, decodes, budget);
}

/** `mendFields` of an object that is nobody else's: it is changed in place. */
export function mendOwn(
  made: Record<string, unknown>,
  decodes: FieldDecodes,
  budget: ValueBudget,
): Readonly<Record<string, unknown>> {
  for (const key in made) {
    const decode = Object.hasOwn(decodes, key) ? decodes[key] : undefined;
    const value = made[key];
    const mended = decode === undefined ? mendUnnamed(value, budget) : mendField(decode, value, budget, key);
    if (mended === value) continue;
    if (mended === undefined) delete made[key];
    else made[key] = mended;
  }
  for (const key in decodes) {
    const decode = decodes[key];
    if (decode === undefined || made[key] !== undefined) continue;
    const mended = mendField(decode, undefined, budget, key);
    if (mended !== undefined) made[key] = mended;
  }
  return made;
}

function mendUnnamed(value: unknown, budget: ValueBudget): unknown {
  return value === undefined || typeof value === 'function' ? undefined : toJson(value, budget);
}

function mendField(decode: FieldDecode, value: unknown, budget: ValueBudget, key: string): unknown {
  const mended = decode.mend(value, budget, key);
  if (mended !== undefined) return mended;
  // Takes a field that may be absent, and refuses one that may not.
  if (decode.fallback === undefined) return decode(undefined, key);
  budget.note('wrongTypes', `${key} is missing or cannot be used`);
  return decode.fallback;
}

/** Runs every decode on its field. Gives `source` itself when none of them changed anything. */
export function decodeFields(
  source: Readonly<Record<string, unknown>>,
  decodes: FieldDecodes,
  path: string,
): Readonly<Record<string, unknown>> {
  let changed: Record<string, unknown> | undefined;
  // No field is called like a member that every object has, so what a plain object answers is its own.
  const isPlain = Object.getPrototypeOf(source) === Object.prototype;
  for (const key in decodes) {
    const value = isPlain || Object.hasOwn(source, key) ? source[key] : undefined;
    const decoded = decodes[key]?.(value, path, key);
    if (decoded !== value) {
      changed ??= { ...source };
      changed[key] = decoded;
    }
  }
  return changed ?? source;
}
