import type { CutText } from './api-shapes.ts';

/** Longer strings are truncated. */
const MAX_TEXT_CHARS = 20_000;
const PREVIEW_CHARS = 4_000;
/** Approximate limit for the total number of characters sent per payload. */
const MAX_PAYLOAD_CHARS = 200_000;
/** Deeper values are replaced, so that recursive functions of the page do not overflow the stack. */
const MAX_DEPTH = 40;
/** Maximum number of members sent per object. */
const MAX_MEMBERS = 2_000;
/** Texts up to this length are sent even after the total limit is reached. */
const SHORT_CHARS = 200;

/**
 * Replaces oversized values in the payload by `{ "$cut": { chars, preview } }`. These are texts of over 20,000 characters, values deeper
 * than 40 levels, and everything after 200,000 characters. `chars` is the length of the text, or the approximate length of the value's
 * JSON. Returns the same object if nothing is replaced.
 *
 * Cost: one pass over the result.
 */
export function cutValues<Value>(payload: Value): Value {
  const state = { left: MAX_PAYLOAD_CHARS };
  // The replacement has another type, as the API documents.
  return cutValue(payload, state, 0) as Value;
}

interface CutState {
  /** Number of characters that may still be sent. */
  left: number;
}

function cutValue(value: unknown, state: CutState, depth: number): unknown {
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
  if (state.left <= 0 || depth >= MAX_DEPTH) return cutText(countJsonChars(value), '');
  return Array.isArray(value) ? cutItems(value, state, depth) : cutMembers(value, state, depth);
}

function cutItems(items: readonly unknown[], state: CutState, depth: number): readonly unknown[] {
  let changedItems: unknown[] | undefined;
  for (const [index, item] of items.entries()) {
    if (state.left <= 0) {
      const restItems = items.slice(index);
      return [
        ...(changedItems ?? items.slice(0, index)),
        cutText(countJsonChars(restItems), `${restItems.length} more`),
      ];
    }
    const result = cutValue(item, state, depth + 1);
    if (result === item && changedItems === undefined) continue;
    changedItems ??= items.slice(0, index);
    changedItems.push(result);
  }
  return changedItems ?? items;
}

function cutMembers(source: object, state: CutState, depth: number): object {
  let changedMembers: Record<string, unknown> | undefined;
  const members = Object.entries(source);
  for (const [index, [key, member]] of members.entries()) {
    if (index >= MAX_MEMBERS) {
      const result: Record<string, unknown> = { ...Object.fromEntries(members.slice(0, index)), ...changedMembers };
      const rest = members.length - index;
      defineMember(result, '…', cutText(countJsonChars(members.slice(index)), `${rest} more`));
      return result;
    }
    state.left -= key.length;
    const result = cutValue(member, state, depth + 1);
    if (result === member) continue;
    changedMembers ??= {};
    defineMember(changedMembers, key, result);
  }
  return changedMembers === undefined ? source : { ...source, ...changedMembers };
}

/** Sets a key. It also works for a key such as `__proto__`, for which assignment would not. */
function defineMember(target: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

function cutText(chars: number, preview: string): CutText {
  return { $cut: { chars, preview } };
}

/**
 * Returns the approximate length of a value's JSON. The function is iterative, because JSON may be nested deeper than the stack allows.
 */
function countJsonChars(root: unknown): number {
  let chars = 0;
  const left: unknown[] = [root];
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
