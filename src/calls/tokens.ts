import { unitAt } from '../base/unit-at.ts';
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
 * The words of a text (runs of letters, digits and `_`, case does not count) as ascending 32-bit hashes without
 * repeats: the first 64 different ones in the first 4,000 characters. A number behind a word such as `limit` or `timeout`
 * is left out: it sets how much is asked for, not what.
 *
 * @param aside  takes a key of the words that are no numbers
 * Cost: one pass without allocation for ASCII text, a regular expression for other.
 */
export function tokensOf(source: string, aside: TokensAside = { frameKey: 0 }): readonly number[] {
  const text = source.length > MAX_SOURCE_CHARS ? source.slice(0, MAX_SOURCE_CHARS) : source;
  const { length } = text;
  const tokens: number[] = [];
  let before = 0;
  for (let at = 0; at < length;) {
    let unit = text.charCodeAt(at);
    if (unit > 127) return unicodeTokens(text, aside);
    let letter = letterOf(unit);
    if (letter === 0) {
      at += 1;
      continue;
    }
    // A number that stands alone in its argument, or a part of such a one.
    const isValue = isDigit(unit) && unitAt(text, at - 1) !== SPACE;
    let isNumber = true;
    let hash = START;
    while (letter !== 0) {
      hash = mix(hash, letter);
      if (!isDigit(letter)) isNumber = false;
      at += 1;
      if (at === length) break;
      unit = text.charCodeAt(at);
      if (unit > 127) return unicodeTokens(text, aside);
      letter = letterOf(unit);
    }
    const token = finish(hash);
    if (!isNumber || !AMOUNTS.has(before)) insert(tokens, token);
    if (!isValue) aside.frameKey = (aside.frameKey + token) >>> 0;
    if (tokens.length === MAX_TOKENS) break;
    before = token;
  }
  return tokens;
}

/** The hash under which a word stands among the tokens. */
export function wordToken(word: string): number {
  let hash = START;
  const lower = word.toLowerCase();
  for (let at = 0; at < lower.length; at += 1) hash = mix(hash, lower.charCodeAt(at));
  return finish(hash);
}

/** Whether a token is that of a word of one or two letters: a form of company, an initial, a particle. */
export function isShortWord(token: number): boolean {
  shortWords ??= new Set(
    LETTERS.flatMap((first) => [first, ...LETTERS.map((second) => first + second)].map(wordToken)),
  );
  return shortWords.has(token);
}

const LETTERS = Array.from('abcdefghijklmnopqrstuvwxyz');
/** 702 of them, made when they are first asked for. */
let shortWords: ReadonlySet<number> | undefined;

function unicodeTokens(text: string, aside: TokensAside): readonly number[] {
  // What stood before the first letter beyond ASCII comes again.
  aside.frameKey = 0;
  const tokens: number[] = [];
  let before = 0;
  for (const { 0: word, index } of text.matchAll(/[\p{L}\p{N}_]+/gu)) {
    const token = wordToken(word);
    if (!AMOUNTS.has(before) || !/^\d+$/.test(word)) insert(tokens, token);
    if (!/^\d/.test(word) || text[index - 1] === ' ') aside.frameKey = (aside.frameKey + token) >>> 0;
    if (tokens.length === MAX_TOKENS) break;
    before = token;
  }
  return tokens;
}

/** What a unit of ASCII is within a word, in small letters; 0 for what is part of none. */
const LETTERS_OF_WORDS = Uint8Array.from({ length: 128 }, (_, unit) =>
  isWordUnit(unit) ? String.fromCharCode(unit).toLowerCase().charCodeAt(0) : 0,
);

function letterOf(unit: number): number {
  // The table holds an entry for every unit of ASCII.
  return LETTERS_OF_WORDS[unit] as number;
}

function mix(hash: number, unit: number): number {
  return Math.imul(hash ^ unit, 0x01000193);
}

function finish(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return (mixed ^ (mixed >>> 13)) >>> 0;
}

/** Puts a token into its place of an ascending list, unless it stands there. */
function insert(tokens: number[], token: number): void {
  let place = tokens.length;
  // Every place from 0 to below the length holds a number.
  while (place > 0 && (tokens[place - 1] as number) > token) place -= 1;
  if (place > 0 && tokens[place - 1] === token) return;
  tokens.push(token);
  for (let at = tokens.length - 1; at > place; at -= 1) tokens[at] = tokens[at - 1] as number;
  tokens[place] = token;
}

/** Words behind which a number says how much, how long or how fine. */
const AMOUNTS: ReadonlySet<number> = new Set(
  (
    'limit top max min size page_size per_page count depth timeout timeout_ms dpi k n num results max_results rows threshold ' +
    'radius width height zoom scale tail head wait retries temperature quality level max_tokens psm lines seconds ms'
  )
    .split(' ')
    .map((word) => wordToken(word)),
);
