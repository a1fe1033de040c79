import { CoxswainError } from '../base/error.ts';
import { isJsonObject } from '../base/json.ts';

/**
 * Takes the value of one field and gives what the rest of the program reads: usually the value itself.
 *
 * @param path  where the value lies, such as `payload.tool_name`; where `key` is given, that is its last part. They are put
 *   together only for an error, because every field of every record comes through here
 * @throws CoxswainError `invalid-record` naming the path
 */
export type FieldDecode = (value: unknown, path: string, key?: string | number) => unknown;

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

export const text: FieldDecode = (value, path, key) => {
  if (typeof value === 'string') return value;
  throw brokenField(pathOf(path, key), 'a text', value);
};

export const flag: FieldDecode = (value, path, key) => {
  if (typeof value === 'boolean') return value;
  throw brokenField(pathOf(path, key), 'true or false', value);
};

/** A whole number from 0 that JavaScript holds exactly. */
export const count: FieldDecode = (value, path, key) => {
  if (Number.isSafeInteger(value) && Number(value) >= 0) return value;
  throw brokenField(pathOf(path, key), 'a whole number from 0', value);
};

/** A finite number, also negative or broken. */
export const anyNumber: FieldDecode = (value, path, key) => {
  if (Number.isFinite(value)) return value;
  throw brokenField(pathOf(path, key), 'a number', value);
};

/** A finite number from 0: a duration or a time in milliseconds. */
export const amount: FieldDecode = (value, path, key) => {
  if (Number.isFinite(value) && Number(value) >= 0) return value;
  throw brokenField(pathOf(path, key), 'a number from 0', value);
};

/** Whatever JSON can say, but not nothing. */
export const anyJson: FieldDecode = (value, path, key) => {
  const type = typeof value;
  if (type !== 'undefined' && type !== 'function' && type !== 'symbol') return value;
  throw brokenField(pathOf(path, key), 'a JSON value', value);
};

export const jsonObject: FieldDecode = (value, path, key) => {
  if (isJsonObject(value)) return value;
  throw brokenField(pathOf(path, key), 'an object', value);
};

/** The field may be absent. */
export function optional(decode: FieldDecode): FieldDecode {
  return (value, path, key) => (value === undefined ? undefined : decode(value, path, key));
}

export function nullable(decode: FieldDecode): FieldDecode {
  return (value, path, key) => (value === null ? null : decode(value, path, key));
}

/** Exactly `only`: a field that is either absent or says one thing. */
export function literal(only: string | boolean): FieldDecode {
  return (value, path, key) => {
    if (value === only) return value;
    throw brokenField(pathOf(path, key), JSON.stringify(only), value);
  };
}

/** One of a closed set of texts. */
export function oneOf(words: readonly string[]): FieldDecode {
  return (value, path, key) => {
    if (typeof value === 'string' && words.includes(value)) return value;
    throw brokenField(pathOf(path, key), `one of ${words.join(', ')}`, value);
  };
}

/** A list, each item of which `decode` takes. */
export function listOf(decode: FieldDecode): FieldDecode {
  return (value, path, key) => {
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
  };
}

/** An object with these fields, and any others. */
export function objectOf(decodes: FieldDecodes): FieldDecode {
  return (value, path, key) => {
    const own = pathOf(path, key);
    if (!isJsonObject(value)) throw brokenField(own, 'an object', value);
    return decodeFields(value, decodes, own);
  };
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
