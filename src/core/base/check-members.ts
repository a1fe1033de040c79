import { invalidArgument } from './error.ts';
import { nearestName } from './nearest-name.ts';
import { removedText } from './removed-names.ts';

/**
 * Checks options passed by JavaScript callers. The value must be an object without unknown members.
 *
 * @param name  the name of the options in error messages
 * @throws CoxswainError "invalid-argument"
 */
export function checkMembers(name: string, options: unknown, known: Readonly<Record<string, true>>): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw invalidArgument(`${name} must be an object, got ${kindOf(options)}`);
  }
  const unknownMember = Object.keys(options).find((member) => !Object.hasOwn(known, member));
  if (unknownMember === undefined) return;
  const nearest = nearestName(unknownMember, Object.keys(known));
  const hint =
    removedText(unknownMember) ??
    (nearest === undefined ? `there are ${Object.keys(known).join(', ')}` : `did you mean ${nearest}?`);
  throw invalidArgument(`${name} has no member ${unknownMember}; ${hint}`);
}

/** Checks that a value is a list or undefined. @throws CoxswainError "invalid-argument" */
export function checkList(name: string, list: unknown): void {
  if (list === undefined || Array.isArray(list)) return;
  throw invalidArgument(`${name} must be a list, got ${kindOf(list)}`);
}

function kindOf(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 60));
  return value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value;
}
