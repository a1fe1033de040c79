/** A JSON value. Every stored value has this type. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: Json;
}

/** Returns true for a JSON object, that is, neither null nor an array. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value at a path of member names. Returns undefined if it is missing. */
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

/** Parses a text. Returns undefined if the text is not JSON. */
export function jsonOf(text: string): Json | undefined {
  try {
    // JSON.parse returns JSON.
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
