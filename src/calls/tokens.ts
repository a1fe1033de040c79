import { isDigit, isWordUnit } from '../base/unit-kinds.ts';

const MAX_TOKENS = 64;
const MAX_SOURCE_CHARS = 4_000;
const START = 0x811c9dc5;
const SPACE = 0x20;

/** What `tokensOf` tells beside the tokens. */
export interface TokensAside {
  /** Equal for texts that differ in nothing but numbers, however they are ordered; a number within a sentence is a word of it. */
  frameKey: number;
}

/**
 * The words of a text (runs of letters, digits and `_`, case does not count in ASCII) as ascending 32-bit hashes without
 * repeats: the first 64 different ones in the first 4,000 characters. All that is not ASCII counts as letters. A number behind a word such
 * as `limit` is left out: it sets how much is asked for, not what.
 *
 * @param aside  takes a key of the words that are no numbers
 * Cost: one pass.
 */
export function tokensOf(source: string, aside: TokensAside = { frameKey: 0 }): readonly number[] {
  const length = Math.min(source.length, MAX_SOURCE_CHARS);
  const tokens: number[] = [];
  let hash = START;
  let isNumber = true;
  let before = 0;
  for (let at = 0, start = 0; at <= length && tokens.length < MAX_TOKENS; at += 1) {
    const unit = at < length ? source.charCodeAt(at) : SPACE;
    if (isPart(unit)) {
      isNumber &&= isDigit(unit);
      hash = mix(hash, unit);
      continue;
    }
    if (at > start) {
      const token = finish(hash);
      if ((!isNumber || !AMOUNTS.has(before)) && !tokens.includes(token)) tokens.push(token);
      before = token;
      // A number that stands alone in its argument, or a part of such a one.
      const isValue = isDigit(source.charCodeAt(start)) && source.charCodeAt(start - 1) !== SPACE;
      if (!isValue) aside.frameKey = (aside.frameKey + token) >>> 0;
    }
    start = at + 1;
    hash = START;
    isNumber = true;
  }
  return tokens.sort((left, right) => left - right);
}

/** The hash under which a word stands among the tokens. */
export function wordToken(word: string): number {
  let hash = START;
  for (let at = 0; at < word.length; at += 1) hash = mix(hash, word.charCodeAt(at));
  return finish(hash);
}

function isPart(unit: number): boolean {
  return unit > 127 || isWordUnit(unit);
}

/** Takes in a unit; of ASCII in small letters. */
function mix(hash: number, unit: number): number {
  return Math.imul(hash ^ (unit >= 0x41 && unit <= 0x5a ? unit | 32 : unit), 0x01000193);
}

function finish(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return (mixed ^ (mixed >>> 13)) >>> 0;
}

/** Words behind which a number says how much. */
const AMOUNTS: ReadonlySet<number> = new Set(
  [
    'limit',
    'top',
    'max',
    'size',
    'count',
    'depth',
    'timeout',
    'n',
    'num',
    'head',
    'tail',
    'lines',
    'per_page',
    'max_results',
  ].map(wordToken),
);
