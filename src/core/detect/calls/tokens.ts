import { isDigit, isWordUnit } from '../../base/unit-kinds.ts';

const MAX_TOKENS = 64;
const MAX_SOURCE_CHARS = 4_000;
const START = 0x811c9dc5;
const SPACE = 0x20;

interface Tokens {
  readonly tokens: readonly number[];
  /** Equal for texts that differ only in numbers. The order of words is ignored. A number within a sentence counts as a word. */
  readonly frameKey: number;
}

/** Letters (all characters outside ASCII), digits and `_` of the first 4,000 characters, regardless of ASCII case. */
export function tokensOf(source: string): Tokens {
  const length = Math.min(source.length, MAX_SOURCE_CHARS);
  const tokens: number[] = [];
  let frameKey = 0;
  let hash = START;
  for (let at = 0, start = 0; at <= length && tokens.length < MAX_TOKENS; at += 1) {
    const unit = at < length ? source.charCodeAt(at) : SPACE;
    if (unit > 127 || isWordUnit(unit)) {
      hash = mixUnit(hash, unit);
      continue;
    }
    if (at > start) {
      const token = finalizeHash(hash);
      if (!tokens.includes(token)) tokens.push(token);
      // True for a number that is the whole argument, or a part of such a number.
      const isValue = isDigit(source.charCodeAt(start)) && source.charCodeAt(start - 1) !== SPACE;
      if (!isValue) frameKey = (frameKey + token) >>> 0;
    }
    start = at + 1;
    hash = START;
  }
  return { tokens: tokens.sort((left, right) => left - right), frameKey };
}

export function wordToken(word: string): number {
  let hash = START;
  for (let at = 0; at < word.length; at += 1) hash = mixUnit(hash, word.charCodeAt(at));
  return finalizeHash(hash);
}

/** Adds a UTF-16 code unit to the hash. ASCII letters are converted to lower case. */
function mixUnit(hash: number, unit: number): number {
  return Math.imul(hash ^ (unit >= 0x41 && unit <= 0x5a ? unit | 32 : unit), 0x01000193);
}

function finalizeHash(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return (mixed ^ (mixed >>> 13)) >>> 0;
}

/**
 * Returns the similarity of the arguments of two calls: shared words divided by all words (Jaccard index), from 0 to 1. Two calls
 * without words have similarity 1.
 *
 * @param left   word hashes in ascending order (`Step.tokens`)
 * @param right  word hashes in ascending order
 * Cost: one merge of two lists of at most 64 hashes.
 */
export function similarity(left: readonly number[], right: readonly number[]): number {
  let shared = 0;
  let leftIndex = 0;
  let rightIndex = 0;
  while (leftIndex < left.length && rightIndex < right.length) {
    // Both indices are below their lengths.
    const difference = (left[leftIndex] as number) - (right[rightIndex] as number);
    if (difference === 0) shared += 1;
    if (difference <= 0) leftIndex += 1;
    if (difference >= 0) rightIndex += 1;
  }
  const all = left.length + right.length - shared;
  return all === 0 ? 1 : shared / all;
}
