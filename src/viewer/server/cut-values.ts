import type { CutText } from './api-shapes.ts';

/** Strings of more characters are cut. */
const MAX_TEXT_CHARS = 20_000;
const PREVIEW_CHARS = 4_000;
/** Of one payload about so many characters are given, whatever they are spread over. */
const MAX_PAYLOAD_CHARS = 200_000;
/** Values below this depth are cut: a page that walks them must not overflow. */
const MAX_DEPTH = 40;
/** Members of one object that are given. */
const MAX_MEMBERS = 2_000;
/** A short text says what something is, also where no room is left. */
const SHORT_CHARS = 200;

/**
 * The payload with what is too long in it replaced by `{ "$cut": { chars, preview } }`: a text of over 20,000 characters, what lies
 * deeper than 40 levels, and what comes after 200,000 characters. The same object where nothing is. `chars` is the length of the
 * text, or about that of the value's JSON.
 *
 * A value of the trajectory that looks like a cut says no more than what it holds.
 *
 * Cost: one walk over what is kept.
 */
export function cutValues<Value>(payload: Value): Value {
  const state = { left: MAX_PAYLOAD_CHARS };
  // What is cut has another type than before, which the API says.
  return cut(payload, state, 0) as Value;
}

interface CutState {
  /** Characters that may still be given. */
  left: number;
}

function cut(value: unknown, state: CutState, depth: number): unknown {
  if (typeof value === 'string') {
    if (value.length <= Math.max(SHORT_CHARS, Math.min(MAX_TEXT_CHARS, state.left))) {
      state.left -= value.length;
      return value;
    }
    const preview = value.slice(0, Math.max(0, Math.min(PREVIEW_CHARS, state.left))).toWellFormed();
    state.left -= preview.length;
    return cutText(value.length, preview);
  }
  state.left -= 8;
  if (typeof value !== 'object' || value === null) return value;
  if (state.left <= 0 || depth >= MAX_DEPTH) return cutText(charsOf(value), '');
  return Array.isArray(value) ? cutItems(value, state, depth) : cutMembers(value, state, depth);
}

function cutItems(items: readonly unknown[], state: CutState, depth: number): readonly unknown[] {
  let kept: unknown[] | undefined;
  for (const [index, item] of items.entries()) {
    if (state.left <= 0) {
      const rest = items.slice(index);
      return [...(kept ?? items.slice(0, index)), cutText(charsOf(rest), `${rest.length} more`)];
    }
    const given = cut(item, state, depth + 1);
    if (given === item && kept === undefined) continue;
    kept ??= items.slice(0, index);
    kept.push(given);
  }
  return kept ?? items;
}

function cutMembers(source: object, state: CutState, depth: number): object {
  let changed: Record<string, unknown> | undefined;
  const members = Object.entries(source);
  for (const [index, [key, member]] of members.entries()) {
    if (index >= MAX_MEMBERS) {
      const given: Record<string, unknown> = { ...Object.fromEntries(members.slice(0, index)), ...changed };
      const rest = members.length - index;
      define(given, '…', cutText(charsOf(members.slice(index)), `${rest} more`));
      return given;
    }
    state.left -= key.length;
    const given = cut(member, state, depth + 1);
    if (given === member) continue;
    changed ??= {};
    define(changed, key, given);
  }
  return changed === undefined ? source : { ...source, ...changed };
}

/** Also for a key such as `__proto__`, which an assignment would take for something else. */
function define(target: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

function cutText(chars: number, preview: string): CutText {
  return { $cut: { chars, preview } };
}

/** About the length of the JSON of a value; a list instead of recursion, because JSON may nest deeper than the stack. */
function charsOf(whole: unknown): number {
  let chars = 0;
  const left: unknown[] = [whole];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === 'string') chars += value.length + 2;
    else if (typeof value !== 'object' || value === null) chars += 5;
    else if (Array.isArray(value)) {
      chars += value.length + 2;
      for (const item of value as readonly unknown[]) left.push(item);
    } else {
      for (const [key, member] of Object.entries(value)) {
        chars += key.length + 4;
        left.push(member);
      }
      chars += 2;
    }
  }
  return chars;
}
