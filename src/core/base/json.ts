/** A JSON value. Every stored value has this type. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: Json;
}

/** Returns true for a JSON object, that is, neither null nor an array. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function memberAt(value: Json, path: readonly string[]): Json | undefined;
export function memberAt(value: unknown, path: readonly string[]): unknown;
export function memberAt(value: unknown, path: readonly string[]): unknown {
  let current = value;
  for (const name of path) {
    if (!isJsonObject(current) || !Object.hasOwn(current, name)) return undefined;
    current = current[name];
  }
  return current;
}

export function jsonOf(text: string): Json | undefined {
  try {
    // JSON.parse returns JSON.
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

export type JsonMembers = Readonly<Record<string, unknown>>;

export function membersOf(value: unknown): JsonMembers {
  return isJsonObject(value) ? value : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function objectsIn(value: unknown): readonly JsonMembers[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** Returns the texts in a value, in order. Uses no recursion, because JSON may be nested deeper than the stack. */
export function textsIn(value: Json): readonly string[] {
  const texts: string[] = [];
  const pending: Json[] = [value];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next === 'string') texts.push(next);
    else if (typeof next === 'object' && next !== null) {
      const members: readonly (Json | undefined)[] = Array.isArray(next) ? next : Object.values(next);
      for (let index = members.length - 1; index >= 0; index -= 1) pending.push(members[index] ?? null);
    }
  }
  return texts;
}

export function textOrUndefined(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function textOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function numberOrUndefined(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** Members that may be undefined become optional. */
type Present<Members> = {
  readonly [Name in keyof Members as undefined extends Members[Name] ? never : Name]: Members[Name];
} & {
  readonly [Name in keyof Members as undefined extends Members[Name] ? Name : never]?: Exclude<
    Members[Name],
    undefined
  >;
};

/** Copies an object without its undefined members. */
export function present<Members extends object>(members: Members): Present<Members> {
  const result: Record<string, unknown> = {};
  for (const name in members) if (members[name] !== undefined) result[name] = members[name];
  // Only undefined members are missing.
  return result as Present<Members>;
}

export type Mutable<Value> = { -readonly [Member in keyof Value]: Value[Member] };
