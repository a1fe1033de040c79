import { invalidArgument } from './error.ts';
import { nearestName } from './nearest-name.ts';

/**
 * Refuses an options object that is none, or has a member that nothing reads: mistakes that only plain JavaScript can make.
 *
 * @param name  what messages call it
 * @throws CoxswainError "invalid-argument"
 */
export function checkMembers(name: string, options: unknown, known: Readonly<Record<string, true>>): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw invalidArgument(`${name} must be an object, got ${kindOf(options)}`);
  }
  const wrong = Object.keys(options).find((member) => !Object.hasOwn(known, member));
  if (wrong === undefined) return;
  const meant = nearestName(wrong, Object.keys(known));
  const hint = meant === undefined ? `there are ${Object.keys(known).join(', ')}` : `did you mean ${meant}?`;
  throw invalidArgument(`${name} has no member ${wrong}; ${hint}`);
}

/** Refuses what is no list; absent is fine. @throws CoxswainError "invalid-argument" */
export function checkList(name: string, list: unknown): void {
  if (list === undefined || Array.isArray(list)) return;
  throw invalidArgument(`${name} must be a list, got ${kindOf(list)}`);
}

function kindOf(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 60));
  return value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value;
}
