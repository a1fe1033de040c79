import { binaryMark, blobMark, bytesInText, isBlob } from './binary-mark.ts';
import { messageOf } from './error.ts';
import type { Json } from './json.ts';
import type { NoteFault } from './input-fault.ts';

/** Characters reserved for the mark between head and tail. */
const MARK_CHARS = 80;
/** Maximum distance by which a cut moves to reach a line break. Cutting at a line break avoids cutting through a secret. */
const SEAM_CHARS = 4_096;
/** Maximum length of a private key. */
const KEY_CHARS = 16_384;

/**
 * Keeps head and tail around a mark with the size. Cuts between lines, else between words, never inside a private key
 * or a surrogate pair: redaction would not recognise half a secret.
 *
 * @param maxChars  UTF-16 units of the result, at least 256 Cost: O(maxChars).
 */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const half = Math.floor((maxChars - MARK_CHARS) / 2);
  const head = text.slice(0, headEnd(text, half));
  const tail = text.slice(tailStart(text, text.length - half));
  const omittedChars = text.length - head.length - tail.length;
  const shortened = `${head}\n[… ${omittedChars} of ${text.length} characters left out …]\n${tail}`;
  // Makes V8 copy the characters. Otherwise the result would keep the whole original text in memory.
  shortened.charCodeAt(0);
  return shortened;
}

function headEnd(text: string, limit: number): number {
  const window = Math.min(SEAM_CHARS, limit >> 1);
  const textNear = text.slice(limit - window, limit);
  const seam = Math.max(textNear.lastIndexOf('\n') + 1, 0) || lastBreak(textNear);
  const end = limit - window + (seam === 0 ? window : seam);
  const keyStart = Math.max(0, end - KEY_CHARS);
  const textClose = text.slice(keyStart, end);
  const opening = textClose.lastIndexOf('-----BEGIN');
  if (opening > textClose.lastIndexOf('-----END')) return keyStart + opening;
  return isHigh(text.charCodeAt(end - 1)) ? end - 1 : end;
}

function tailStart(text: string, limit: number): number {
  const window = Math.min(SEAM_CHARS, (text.length - limit) >> 1);
  const textNear = text.slice(limit, limit + window);
  const line = textNear.indexOf('\n');
  const start = limit + (line >= 0 ? line + 1 : firstBreak(textNear));
  const textClose = text.slice(start, start + KEY_CHARS);
  const closing = textClose.indexOf('-----END');
  const opening = textClose.indexOf('-----BEGIN');
  if (closing >= 0 && (opening < 0 || closing < opening)) {
    const end = textClose.indexOf('-----', closing + 8);
    return start + (end < 0 ? textClose.length : end + 5);
  }
  return isLow(text.charCodeAt(start)) ? start + 1 : start;
}

function lastBreak(text: string): number {
  return Math.max(text.lastIndexOf(' '), text.lastIndexOf(',')) + 1;
}

function firstBreak(text: string): number {
  return text.search(/[ ,]/) + 1;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** Size limits of one event. Ordinary events are far smaller, because a model reads at most a megabyte of text. */
export const VALUE_LIMITS = {
  /** Total number of object members and list items. */
  nodes: 10_000,
  depth: 64,
  /** UTF-16 units of a single text. */
  textChars: 1_048_576,
  /** UTF-16 units of all texts and member names. */
  chars: 4_194_304,
} as const;

/** UTF-16 units that a text keeps after the budget is used up. */
const LEAST_CHARS = 256;

/** The remaining limits of one event. Every walk over a value from the host uses this budget, so the limits bound the work. */
export class ValueBudget {
  nodes: number = VALUE_LIMITS.nodes;
  /** Unix milliseconds of the clock. 0 means that there is no clock and times are not checked. */
  nowMs = 0;
  /** The enclosing objects, outermost first. */
  readonly path: object[] = [];
  readonly note: NoteFault;
  #chars: number = VALUE_LIMITS.chars;

  constructor(note: NoteFault = () => undefined) {
    this.note = note;
  }

  renew(nowMs: number): void {
    this.nodes = VALUE_LIMITS.nodes;
    this.#chars = VALUE_LIMITS.chars;
    this.path.length = 0;
    this.nowMs = nowMs;
  }

  text(text: string): string {
    const { length } = text;
    if (length <= this.#chars && length <= VALUE_LIMITS.textChars) {
      this.#chars -= length;
      return text;
    }
    const shortened = cutText(text, Math.max(LEAST_CHARS, Math.min(VALUE_LIMITS.textChars, this.#chars)));
    this.#chars = Math.max(0, this.#chars - shortened.length);
    if (shortened !== text) this.note('cutValues', `a text of ${length} characters`);
    return shortened;
  }
}

/** A list or object with at most this many members keeps all members, some of them as marks if necessary. */
const FEW_MEMBERS = 64;
const MAX_ERROR_CHARS = 300;
/** Prototypes of wrapper objects. JSON writes such an object as the value that it wraps. */
const BOXES: ReadonlySet<unknown> = new Set([Number.prototype, String.prototype, Boolean.prototype]);

/**
 * Never throws, reads each member once, shares no object with the value. `toJSON` is applied. An `Error` becomes its
 * name, message, code, cause and plain members; a `Map` an object, or pairs if a key is not text; a `Set` a list; a
 * bigint a number if safe, else text; bytes and pictures their type, size and digest. A mark replaces what is too long,
 * a cycle, and what cannot be read. Cost: one walk, bounded by the budget.
 */
export function toJson(value: unknown, budget: ValueBudget = new ValueBudget()): Json {
  return copyValue(value, budget) ?? replaceUnstorable(value);
}

/** Returns undefined for a value that JSON leaves out of an object. */
function copyValue(value: unknown, budget: ValueBudget): Json | undefined {
  switch (typeof value) {
    case 'string':
      return copyText(value, budget);
    case 'number':
      if (value === 0) return 0;
      if (Number.isFinite(value)) return value;
      budget.note('badNumbers', `${value} inside a value`);
      return null;
    case 'boolean':
      return value;
    case 'bigint':
      return bigintOf(value);
    case 'object':
      return value === null ? null : copyObject(value, budget);
    default:
      return undefined;
  }
}

function replaceUnstorable(value: unknown): Json {
  if (typeof value === 'function') return '[function]';
  return typeof value === 'symbol' ? `[${String(value).slice(0, 100)}]` : null;
}

function copyText(text: string, budget: ValueBudget, member?: Parameters<typeof bytesInText>[1]): Json {
  const foundBytes = bytesInText(text, member);
  if (foundBytes !== undefined) budget.note('binaries', 'bytes in base64');
  return typeof foundBytes === 'object' ? foundBytes : budget.text(foundBytes ?? text);
}

function bigintOf(value: bigint): Json {
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  // The time to write a very long bigint grows with the square of its length.
  return BigInt.asIntN(1_024, value) === value ? String(value) : '[a bigint of more than 1024 bits]';
}

function copyObject(value: object, budget: ValueBudget): Json {
  const { path } = budget;
  const depth = path.length;
  if (path.includes(value)) {
    budget.note('cycles', 'a value that contains itself');
    return '[circular]';
  }
  if (depth >= VALUE_LIMITS.depth) {
    budget.note('cutValues', `a value nested more than ${VALUE_LIMITS.depth} levels deep`);
    return `[… deeper than ${VALUE_LIMITS.depth} levels …]`;
  }
  path.push(value);
  try {
    if (Array.isArray(value)) {
      const length = lengthOf(value);
      return copyItems(value, { atHand: length, total: length }, budget);
    }
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === Object.prototype || prototype === null) return copyPlain(value, budget);
    return copyInstance(value, budget);
  } catch (error) {
    return unreadableText(error, budget);
  } finally {
    path.length = depth;
  }
}

function unreadableText(error: unknown, budget: ValueBudget): string {
  const reason = messageOf(error).slice(0, MAX_ERROR_CHARS);
  budget.note('unreadable', 'a value that throws when it is read');
  return `[unreadable: ${reason}]`;
}

function copyPlain(value: object, budget: ValueBudget): Json {
  // A missing member reads as undefined.
  const { toJSON } = value as { readonly toJSON?: unknown };
  if (typeof toJSON !== 'function') return copyMembers(value, budget);
  let result: unknown;
  try {
    result = Reflect.apply(toJSON, value, ['']);
  } catch (error) {
    budget.note('unreadable', `toJSON threw ${messageOf(error).slice(0, 60)}`);
    return copyMembers(value, budget);
  }
  if (result === value) return copyMembers(value, budget);
  // As in JSON, a `toJSON` method of the result is not called.
  if (typeof result === 'object' && result !== null && isPlain(result) && !Array.isArray(result)) {
    return copyMembers(result, budget);
  }
  return toJson(result, budget);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function copyInstance(value: object, budget: ValueBudget): Json {
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof SharedArrayBuffer) {
    budget.note('binaries', 'bytes');
    return binaryMark(value);
  }
  if (value instanceof Date) return Number.isFinite(value.getTime()) ? value.toISOString() : null;
  if (value instanceof Error) return copyError(value, budget);
  if (value instanceof Map) return copyMap(value, budget);
  if (value instanceof Set) {
    const items = firstOf<unknown>(value, budget);
    return copyItems(items, { atHand: items.length, total: value.size }, budget);
  }
  if (value instanceof RegExp || value instanceof URLSearchParams) return budget.text(String(value));
  if (value instanceof Promise) return '[promise]';
  if (BOXES.has(Object.getPrototypeOf(value))) return toJson(value.valueOf(), budget);
  if (isBlob(value)) {
    budget.note('binaries', 'a blob');
    return blobMark(value);
  }
  return copyPlain(value, budget);
}

/** The stack is left out, because it is long and contains paths of the host's machine. */
function copyError(error: Error, budget: ValueBudget): Json {
  const result: Record<string, Json> = {};
  setMember(
    result,
    'name',
    textMember(() => error.name, budget),
  );
  setMember(
    result,
    'message',
    textMember(() => error.message, budget),
  );
  let membersLeft = FEW_MEMBERS;
  for (const key of Object.keys(error)) {
    if (key === 'name' || key === 'message' || key === 'stack' || (membersLeft -= 1) < 0) continue;
    const member: unknown = memberOf(error, key, budget);
    // Objects attached to an error are internals of the host, such as sockets, requests and streams.
    if (typeof member === 'object' && member !== null) continue;
    const copiedMember = copyValue(member, budget);
    if (copiedMember !== undefined) setMember(result, key, copiedMember);
  }
  const cause = memberOf(error, 'cause', budget);
  if (cause !== undefined && cause !== null) setMember(result, 'cause', toJson(cause, budget));
  const errors = memberOf(error, 'errors', budget);
  if (Array.isArray(errors)) setMember(result, 'errors', toJson(errors, budget));
  return result;
}

function textMember(readMember: () => unknown, budget: ValueBudget): string {
  try {
    const text = readMember();
    return budget.text(typeof text === 'string' ? text : '');
  } catch (error) {
    return unreadableText(error, budget);
  }
}

function copyMap(map: ReadonlyMap<unknown, unknown>, budget: ValueBudget): Json {
  const entries = firstOf(map, budget);
  if (!entries.every(([key]) => typeof key === 'string')) {
    return copyItems(entries, { atHand: entries.length, total: map.size }, budget);
  }
  const members: Record<string, unknown> = {};
  for (const [key, member] of entries) setMember(members, String(key), member);
  return copyMembers(members, budget, map.size);
}

/** Reads no more items of a set or map than the budget allows. */
function firstOf<Item>(items: Iterable<Item>, budget: ValueBudget): readonly Item[] {
  const first: Item[] = [];
  for (const item of items) {
    if (first.length > budget.nodes) break;
    first.push(item);
  }
  return first;
}

/** A proxy may return any value. */
function lengthOf(items: readonly unknown[]): number {
  const { length } = items;
  return Number.isSafeInteger(length) && length > 0 ? length : 0;
}

function copyItems(
  items: readonly unknown[],
  { atHand: length, total }: { readonly atHand: number; readonly total: number },
  budget: ValueBudget,
): Json {
  const made: Json[] = [];
  if (length <= FEW_MEMBERS && length <= budget.nodes && length === total) {
    budget.nodes -= length;
    for (let index = 0; index < length; index += 1) made.push(copyItem(items, index, budget));
    return made;
  }
  const half = budget.nodes / 2;
  let start = 0;
  for (; start < length && budget.nodes > half; start += 1) {
    budget.nodes -= 1;
    made.push(copyItem(items, start, budget));
  }
  const tail: Json[] = [];
  let tailFrom = length;
  for (; tailFrom > start && budget.nodes > 0; tailFrom -= 1) {
    budget.nodes -= 1;
    tail.push(copyItem(items, tailFrom - 1, budget));
  }
  const omittedCount = total - start - (length - tailFrom);
  if (omittedCount > 0) made.push(leftOut(omittedCount, total, 'items', budget));
  // Pushes each item separately, because `push` with very many arguments overflows the stack.
  for (const item of tail.reverse()) made.push(item);
  return made;
}

function copyItem(items: readonly unknown[], index: number, budget: ValueBudget): Json {
  let item: unknown;
  try {
    item = items[index];
  } catch (error) {
    return unreadableText(error, budget);
  }
  return toJson(item, budget);
}

function copyMembers(value: object, budget: ValueBudget, total?: number): Json {
  const keys = Object.keys(value);
  const result: Record<string, Json> = {};
  const { length } = keys;
  if (length <= FEW_MEMBERS && length <= budget.nodes && (total === undefined || total === length)) {
    budget.nodes -= length;
    for (const key of keys) copyMember(value, key, result, budget);
    return result;
  }
  const half = budget.nodes / 2;
  let start = 0;
  for (; start < length && budget.nodes > half; start += 1) {
    budget.nodes -= 1;
    copyMember(value, keys[start] ?? '', result, budget);
  }
  const tail: Record<string, Json> = {};
  let tailFrom = length;
  for (; tailFrom > start && budget.nodes > 0; tailFrom -= 1) {
    budget.nodes -= 1;
    copyMember(value, keys[tailFrom - 1] ?? '', tail, budget);
  }
  const memberTotal = total ?? length;
  const omittedCount = memberTotal - start - (length - tailFrom);
  if (omittedCount > 0) result['…'] = leftOut(omittedCount, memberTotal, 'members', budget);
  for (const key of Object.keys(tail).reverse()) setMember(result, key, tail[key] ?? null);
  return result;
}

function leftOut(omittedCount: number, total: number, noun: 'items' | 'members', budget: ValueBudget): string {
  budget.note('cutValues', `${total} ${noun} in one value`);
  return `[… ${omittedCount} of ${total} ${noun} left out …]`;
}

function copyMember(source: object, key: string, result: Record<string, Json>, budget: ValueBudget): void {
  const member = memberOf(source, key, budget);
  const copiedMember =
    typeof member === 'string' ? copyText(member, budget, { name: key, of: source }) : copyValue(member, budget);
  if (copiedMember !== undefined) setMember(result, budget.text(key), copiedMember);
}

function memberOf(source: object, key: string, budget: ValueBudget): unknown {
  try {
    // Any property name may be read from any object.
    return (source as Readonly<Record<string, unknown>>)[key];
  } catch (error) {
    return unreadableText(error, budget);
  }
}

function setMember<Value>(result: Record<string, Value>, key: string, value: Value): void {
  if (key !== '__proto__') result[key] = value;
  // A normal assignment would set the object's prototype.
  else Object.defineProperty(result, key, { value, enumerable: true, configurable: true, writable: true });
}
