import { isJsonObject } from '../../base/json.ts';

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

/** Returns the value if it is a finite number. */
export function numberOrUndefined(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
