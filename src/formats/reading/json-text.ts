import { messageOf } from '../../core/base/error.ts';

/** Runs have far less nesting. Code that walks a value overflows at far more; `JSON.stringify` at about 5,000. */
export const MAX_NESTING = 1_000;

/** A decoded text, or the reason why decoding failed. */
export type JsonText =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false;
      /** Reason without quotes from the text. */
      readonly reason: string;
      /** True if the text ends within a value. */
      readonly cutOff: boolean;
      /** Position of the error in UTF-16 units, starting at 0. Undefined if the JavaScript engine does not report it. */
      readonly position: number | undefined;
    };

/** Bare `NaN` and `Infinity`, which Python writes, become null. Never throws. Cost: one pass, two for such text. */
export function decodeJson(text: string): JsonText {
  const decoded = decodeStrict(text);
  if (decoded.ok || decoded.cutOff || !BARE_WORD.test(text)) return decoded;
  const repairedValue = decodeStrict(withoutBareWords(text));
  return repairedValue.ok ? repairedValue : decoded;
}

function decodeStrict(text: string): JsonText {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return faultOf(messageOf(error), text);
  }
  // Each level of nesting takes at least two characters.
  if (text.length > 2 * MAX_NESTING && isDeeperThan(value, MAX_NESTING)) {
    return { ok: false, reason: `is nested deeper than ${MAX_NESTING} levels`, cutOff: false, position: undefined };
  }
  return { ok: true, value };
}

/** For an engine that reports no position. Cost: about log2(length) attempts; undefined over 16 Mi characters. */
export function locateFault(text: string): number | undefined {
  if (text.length > 16 * 1024 * 1024) return undefined;
  let sound = 0;
  let errorIndex = text.length;
  while (sound < errorIndex) {
    const middle = Math.ceil((sound + errorIndex) / 2);
    if (isSoundBeginning(text.slice(0, middle))) sound = middle;
    else errorIndex = middle - 1;
  }
  return sound;
}

function isSoundBeginning(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    return faultOf(messageOf(error), text).cutOff;
  }
}

function faultOf(message: string, text: string): JsonText & { readonly ok: false } {
  const match = /at position (\d+)/.exec(message);
  const position = match === null ? undefined : Number(match[1]);
  const isString = message.startsWith('Unterminated string');
  if (isString || message.startsWith('Unexpected end') || (position !== undefined && position >= text.length)) {
    return { ok: false, reason: 'is cut off in the middle of a value', cutOff: true, position: text.length };
  }
  return { ok: false, reason: 'is not valid JSON', cutOff: false, position };
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) {
      if (typeof item === 'object' && isDeeperThan(item, levels - 1)) return true;
    }
    return false;
  }
  // A decoded object has only its own properties.
  const members = value as Readonly<Record<string, unknown>>;
  for (const key in members) {
    const member = members[key];
    if (typeof member === 'object' && isDeeperThan(member, levels - 1)) return true;
  }
  return false;
}

const BARE_WORD = /\b(?:NaN|Infinity)\b/;

/** Replaces unquoted `NaN` and `Infinity` with `null`. Python writes them for a missing score. Strings are unchanged. */
function withoutBareWords(text: string): string {
  const quoteOrWord = /"|-?\b(?:NaN|Infinity)\b/g;
  const pieces: string[] = [];
  let copiedEnd = 0;
  for (let match = quoteOrWord.exec(text); match !== null; match = quoteOrWord.exec(text)) {
    if (match[0] === '"') {
      quoteOrWord.lastIndex = endOfString(text, match.index + 1);
    } else {
      pieces.push(text.slice(copiedEnd, match.index), 'null');
      copiedEnd = quoteOrWord.lastIndex;
    }
  }
  return pieces.join('') + text.slice(copiedEnd);
}

/** Returns the index after the string that starts at `start`. The function is iterative, so it handles strings of any length. */
function endOfString(text: string, start: number): number {
  const quoteOrEscape = /["\\]/g;
  quoteOrEscape.lastIndex = start;
  for (let match = quoteOrEscape.exec(text); match !== null; match = quoteOrEscape.exec(text)) {
    if (match[0] === '"') return match.index + 1;
    quoteOrEscape.lastIndex = match.index + 2;
  }
  return text.length;
}
