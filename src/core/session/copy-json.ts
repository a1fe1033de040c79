import { CoxswainError, type CoxswainErrorCode } from '../base/error.ts';
import type { Json } from '../base/json.ts';

/** Maximum nesting depth. Deeper JSON is refused. This limit also stops at a cycle. */
const MAX_DEPTH = 64;

/**
 * `-0` becomes `0`, as in JSON text.
 *
 * @param path  prefix of the path in the error: `slices.plan.items`
 * @throws CoxswainError `code`, with `details.path`, for a function, `undefined`, a number that is not finite, a
 * class instance, a hole, more than 64 levels, or a cycle
 */
export function copyJson(value: unknown, path: string, code: CoxswainErrorCode): Json {
  return copyValue(value, { root: path, below: [], code });
}

interface Walk {
  readonly root: string;
  readonly below: (string | number)[];
  readonly code: CoxswainErrorCode;
}

function copyValue(value: unknown, walk: Walk): Json {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw refusedValue(walk, String(value));
      return value === 0 ? 0 : value;
    case 'object':
      if (value === null) return null;
      if (walk.below.length >= MAX_DEPTH) throw refusedValue(walk, `deeper than ${MAX_DEPTH} levels, or a cycle`);
      return Array.isArray(value) ? copyArray(value, walk) : copyObject(value, walk);
    default:
      throw refusedValue(walk, typeof value);
  }
}

function copyArray(items: readonly unknown[], walk: Walk): readonly Json[] {
  // `Array.from` returns `undefined` for holes, and `undefined` is refused.
  return Array.from(items, (item, index) => copyMember(index, item, walk));
}

function copyObject(value: object, walk: Walk): Json {
  const prototype: unknown = Object.getPrototypeOf(value);
  // A plain object of another realm has another prototype. The prototype of that prototype is null.
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) throw refusedValue(walk, 'a class instance');
  // `fromEntries` defines members, so the key `__proto__` becomes ordinary data.
  return Object.fromEntries(
    Object.entries(value).map(([key, member]: [string, unknown]) => [key, copyMember(key, member, walk)]),
  );
}

function copyMember(key: string | number, member: unknown, walk: Walk): Json {
  walk.below.push(key);
  const copiedMember = copyValue(member, walk);
  walk.below.pop();
  return copiedMember;
}

function refusedValue(walk: Walk, found: string): CoxswainError {
  const pathBelow = walk.below.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`));
  const path = walk.root + pathBelow.join('');
  return new CoxswainError(walk.code, `${path} is not JSON (${found}); store plain data only`, {
    details: { path, found },
  });
}

/**
 * Checks at compile time that a type is plain JSON. `Data extends JsonLike<Data>` holds for interfaces and type literals
 * made of JSON values. It fails if a member is a function, `Date`, `Map`, `bigint`, `symbol`, `undefined` or `unknown`.
 */
export type JsonLike<Value> = { readonly [Key in keyof Value]: JsonMember<Value[Key]> };

// `Json` is tested first, because it is recursive and expanding it would not end.
type JsonMember<Value> = [Value] extends [Json] ? Value : JsonBranch<Value>;

// An interface is not assignable to `Json`, because other code could extend it. Its members are therefore checked one by
// one.
type JsonBranch<Value> = Value extends Json
  ? Value
  : Value extends (...input: never[]) => unknown
    ? never
    : Value extends object
      ? JsonLike<Value>
      : never;
