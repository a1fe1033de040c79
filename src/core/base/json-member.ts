import { isJsonObject } from './json.ts';

/** Members of a decoded JSON object. */
export type JsonMembers = Readonly<Record<string, unknown>>;

/** Returns the value if it is an object, else an empty object. */
export function membersOf(value: unknown): JsonMembers {
  return isJsonObject(value) ? value : {};
}

/** Returns the value if it is an array, else an empty array. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the objects in an array; other values give an empty list. */
export function objectsIn(value: unknown): readonly JsonMembers[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** Returns the value if it is a non-empty string. */
export function textOrUndefined(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Returns the value if it is a string, else an empty string. */
export function textOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Returns the value if it is a finite number. */
export function numberOrUndefined(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
