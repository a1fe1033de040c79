import { CoxswainError, messageOf } from '../base/error.ts';
import { isJsonObject } from '../base/json.ts';
import { toJson, type ValueBudget } from '../base/to-json.ts';
import { readDeadlineTime, withoutDate } from '../base/unix-time.ts';

/**
 * Called as a function, it decodes the stored value, mostly to itself.
 *
 * @param path  without `key`: both are joined only for an error, because this runs for every field of every record
 * @throws CoxswainError `invalid-record` with the path
 */
export interface FieldDecode {
  (value: unknown, path: string, key?: string | number): unknown;
  /** Repairs a host's value and counts that in the budget. Undefined if unusable. Throws only if reading it throws. */
  readonly repair: (value: unknown, budget: ValueBudget, key: string | number) => unknown;
  /** Replaces an unusable value of a required field. If it is undefined, the record is refused. */
  readonly fallback?: unknown;
}

export function fieldDecode(
  decode: (value: unknown, path: string, key?: string | number) => unknown,
  repairs: Pick<FieldDecode, 'repair' | 'fallback'>,
): FieldDecode {
  return Object.assign(decode, repairs);
}

export type FieldDecodes = Readonly<Record<string, FieldDecode>>;

export function pathOf(path: string, key: string | number | undefined): string {
  if (key === undefined) return path;
  return typeof key === 'number' ? `${path}[${key}]` : `${path}.${key}`;
}

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
    repair: (value, budget, key) => {
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
    repair: (value, budget, key) => {
      if (typeof value === 'boolean') return value;
      if (value === undefined || value === null) return undefined;
      noteType(budget, key, value);
      return Boolean(value) && value !== 'false' && value !== '0';
    },
    fallback: false,
  },
);

function numberDecode(
  expected: string,
  isValid: (value: number) => boolean,
  convert: (value: number) => number | undefined = (value) => (isValid(value) ? value : undefined),
): FieldDecode {
  return fieldDecode(
    (value, path, key) => {
      if (typeof value === 'number' && isValid(value)) return value;
      throw brokenField(pathOf(path, key), expected, value);
    },
    {
      repair: (value, budget, key) => {
        // The sign of -0 is removed, because JSON loses it.
        if (typeof value === 'number' && isValid(value)) return value === 0 ? 0 : value;
        const number = numberMeant(value, budget, key);
        return number === undefined ? undefined : convert(number);
      },
      fallback: 0,
    },
  );
}

export const countDecode: FieldDecode = numberDecode(
  'a whole number from 0',
  (value) => value >= 0 && Number.isSafeInteger(value),
  (value) => (value >= 0 ? Math.min(Math.trunc(value), Number.MAX_SAFE_INTEGER) : undefined),
);

export const anyNumber: FieldDecode = numberDecode('a number', Number.isFinite);

export const amountDecode: FieldDecode = numberDecode('a number from 0', (value) => value >= 0 && value < Infinity);

/** Decodes a deadline. A host may state it in another unit. */
export function deadlineTime(decode: FieldDecode): FieldDecode {
  return fieldDecode((value, path, key) => decode(value, path, key), {
    ...decode,
    repair: (value, budget, key) => {
      const atMs = amountDecode.repair(withoutDate(value), budget, key);
      if (typeof atMs !== 'number' || budget.nowMs === 0) return atMs;
      const { ms, fault, detail = '' } = readDeadlineTime(atMs, budget.nowMs);
      if (fault !== undefined) budget.note(fault, detail);
      return ms;
    },
  });
}

export const anyJson: FieldDecode = fieldDecode(
  (value, path, key) => {
    const type = typeof value;
    if (type !== 'undefined' && type !== 'function' && type !== 'symbol') return value;
    throw brokenField(pathOf(path, key), 'a JSON value', value);
  },
  { repair: toJson },
);

export const jsonObject: FieldDecode = fieldDecode(
  (value, path, key) => {
    if (isJsonObject(value)) return value;
    throw brokenField(pathOf(path, key), 'an object', value);
  },
  {
    repair: (value, budget, key) => {
      if (value === undefined || value === null) return undefined;
      const json = toJson(value, budget);
      if (isJsonObject(json)) return json;
      noteType(budget, key, value);
      return { value: json };
    },
    fallback: {},
  },
);

/** A missing or null value is absent, as in the records of clark-agent. */
export function optional(decode: FieldDecode): FieldDecode {
  return fieldDecode((value, path, key) => (isAbsent(value) ? undefined : decode(value, path, key)), {
    repair: (value, budget, key) => (isAbsent(value) ? undefined : decode.repair(value, budget, key)),
  });
}

export function nullable(decode: FieldDecode): FieldDecode {
  return fieldDecode((value, path, key) => (isAbsent(value) ? null : decode(value, path, key)), {
    repair: (value, budget, key) => (isAbsent(value) ? null : decode.repair(value, budget, key)),
    fallback: null,
  });
}

function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

export function literal(expected: string | boolean): FieldDecode {
  return fieldDecode(
    (value, path, key) => {
      if (value === expected) return value;
      throw brokenField(pathOf(path, key), JSON.stringify(expected), value);
    },
    {
      repair: (value, budget, key) => {
        if (value === expected) return value;
        if (value !== undefined && value !== false) noteType(budget, key, value);
        return undefined;
      },
      fallback: expected,
    },
  );
}

export function oneOf(words: readonly string[]): FieldDecode {
  return fieldDecode(
    (value, path, key) => {
      if (typeof value === 'string' && words.includes(value)) return value;
      throw brokenField(pathOf(path, key), `one of ${words.join(', ')}`, value);
    },
    {
      repair: (value, budget, key) => {
        if (typeof value === 'string' && words.includes(value)) return value;
        noteType(budget, key, value);
        return undefined;
      },
    },
  );
}

export function listDecode(decode: FieldDecode): FieldDecode {
  return fieldDecode(
    (value, path, key) => {
      const listPath = pathOf(path, key);
      if (!Array.isArray(value)) throw brokenField(listPath, 'a list', value);
      const items: readonly unknown[] = value;
      let changedItems: unknown[] | undefined;
      for (const [index, item] of items.entries()) {
        const decoded = decode(item, listPath, index);
        if (decoded !== item) {
          changedItems ??= [...items];
          changedItems[index] = decoded;
        }
      }
      return changedItems ?? value;
    },
    {
      repair: (value, budget, key) => {
        if (value === undefined || value === null) return undefined;
        if (Array.isArray(value)) return repairItems(value, decode, budget);
        noteType(budget, key, value);
        return undefined;
      },
      fallback: [],
    },
  );
}

function repairItems(items: readonly unknown[], decode: FieldDecode, budget: ValueBudget): readonly unknown[] {
  const length = Number.isSafeInteger(items.length) ? Math.max(0, items.length) : 0;
  const count = Math.min(length, budget.nodes);
  if (count < length) budget.note('cutValues', `a list of ${length}`);
  budget.nodes -= count;
  const head = Math.ceil(count / 2);
  const repairedItems: unknown[] = [];
  for (let index = 0; index < count; index += 1) {
    const itemIndex = index < head ? index : length - count + index;
    const repairedItem = decode.repair(items[itemIndex], budget, itemIndex) ?? decode.fallback;
    if (repairedItem !== undefined) repairedItems.push(repairedItem);
  }
  return repairedItems;
}

export function objectOf(decodes: FieldDecodes): FieldDecode {
  return fieldDecode(
    (value, path, key) => {
      const objectPath = pathOf(path, key);
      if (!isJsonObject(value)) throw brokenField(objectPath, 'an object', value);
      return decodeFields(value, decodes, objectPath);
    },
    {
      repair: (value, budget, key) => {
        if (isJsonObject(value)) return repairFields(value, decodes, budget);
        if (value !== undefined && value !== null) noteType(budget, key, value);
        return undefined;
      },
    },
  );
}

/** Other members become JSON, missing fields their fallback. Throws CoxswainError `invalid-record` without one. */
export function repairFields(
  source: Readonly<Record<string, unknown>>,
  decodes: FieldDecodes,
  budget: ValueBudget,
): Readonly<Record<string, unknown>> {
  return repairOwn({ ...source }, decodes, budget);
}

/** Works like `repairFields` but changes the object in place. The object must not be shared. */
export function repairOwn(
  object: Record<string, unknown>,
  decodes: FieldDecodes,
  budget: ValueBudget,
): Readonly<Record<string, unknown>> {
  for (const key in object) {
    const decode = Object.hasOwn(decodes, key) ? decodes[key] : undefined;
    const value = object[key];
    const repairedValue = decode === undefined ? repairUnnamed(value, budget) : repairField(decode, value, budget, key);
    if (repairedValue === value) continue;
    if (repairedValue === undefined) delete object[key];
    else object[key] = repairedValue;
  }
  for (const key in decodes) {
    const decode = decodes[key];
    if (decode === undefined || object[key] !== undefined) continue;
    const repairedValue = repairField(decode, undefined, budget, key);
    if (repairedValue !== undefined) object[key] = repairedValue;
  }
  return object;
}

function repairUnnamed(value: unknown, budget: ValueBudget): unknown {
  return value === undefined || typeof value === 'function' ? undefined : toJson(value, budget);
}

function repairField(decode: FieldDecode, value: unknown, budget: ValueBudget, key: string): unknown {
  const repairedValue = decode.repair(value, budget, key);
  if (repairedValue !== undefined) return repairedValue;
  // The call accepts an optional field and throws for a required field.
  if (decode.fallback === undefined) return decode(undefined, key);
  budget.note('wrongTypes', `${key} is missing or cannot be used`);
  return decode.fallback;
}

/** Decodes every field. Returns `source` itself if no value changed. */
export function decodeFields(
  source: Readonly<Record<string, unknown>>,
  decodes: FieldDecodes,
  path: string,
): Readonly<Record<string, unknown>> {
  let changedMembers: Record<string, unknown> | undefined;
  // No field has the same name as a member of `Object.prototype`.
  const isPlain = Object.getPrototypeOf(source) === Object.prototype;
  for (const key in decodes) {
    const value = isPlain || Object.hasOwn(source, key) ? source[key] : undefined;
    const decoded = decodes[key]?.(value, path, key);
    if (decoded !== value) {
      changedMembers ??= { ...source };
      if (decoded === undefined) delete changedMembers[key];
      else changedMembers[key] = decoded;
    }
  }
  return changedMembers ?? source;
}

function noteType(budget: ValueBudget, key: string | number, value: unknown): void {
  budget.note('wrongTypes', `${key} is of type ${value === null ? 'null' : typeof value}`);
}

function numberMeant(value: unknown, budget: ValueBudget, key: string | number): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number') {
    budget.note('badNumbers', `${key} is ${value}`);
    return value;
  }
  noteType(budget, key, value);
  if (typeof value === 'bigint') return Number(value);
  return typeof value === 'string' && value.length < 40 && value.trim() !== '' ? Number(value) : undefined;
}
