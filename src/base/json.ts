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

/** The value that a text holds; undefined where it is not JSON. Cost: one `JSON.parse`. */
export function jsonOf(text: string): Json | undefined {
  try {
    // JSON.parse gives JSON.
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
