/** What JSON can say. Everything that is stored is of this type. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: Json;
}

/** True for a plain JSON object: not null, not an array. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at the end of a path of member names; undefined where there is none. A JSON value has only JSON values in it. */
export function memberAt(value: Json, path: readonly string[]): Json | undefined;
export function memberAt(value: unknown, path: readonly string[]): unknown;
export function memberAt(value: unknown, path: readonly string[]): unknown {
  let at = value;
  for (const name of path) {
    if (!isJsonObject(at) || !Object.hasOwn(at, name)) return undefined;
    at = at[name];
  }
  return at;
}

/** The value that a text holds; undefined where it is not JSON. Cost: one `JSON.parse`. */
export function jsonOf(text: string): Json | undefined {
  try {
    // JSON.parse gives JSON.
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
