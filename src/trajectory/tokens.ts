import { isWordUnit } from '../base/unit-kinds.ts';

const MAX_TOKENS = 64;
const MAX_SOURCE_CHARS = 4_000;
const START = 0x811c9dc5;

/** What `tokensOf` tells beside the tokens. */
export interface TokensAside {
  /** Hashes of the numbers that say how much, in their order. */
  amounts: number[];
  /** Equal for texts that differ in nothing but numbers, however they are ordered; a number within a sentence is a word of it. */
  frameKey: number;
}

/**
 * The words of a text (runs of letters, digits and `_`, case does not count) as ascending 32-bit hashes without
 * repeats: the first 64 different ones in the first 4,000 characters. A number behind a word such as `limit` or `timeout`
 * is left out: it sets how much is asked for, not what.
 *
 * @param aside  takes the hashes of the numbers that are left out, and a key of the words that are no numbers
 * Cost: one pass without allocation for ASCII text, a regular expression for other.
 */
export function tokensOf(source: string, aside: TokensAside = { amounts: [], frameKey: 0 }): readonly number[] {
  const text = source.length > MAX_SOURCE_CHARS ? source.slice(0, MAX_SOURCE_CHARS) : source;
  const tokens: number[] = [];
  let hash = START;
  let inWord = false;
  let isNumber = true;
  /** A number that stands alone in its argument, or a part of such a one. */
  let isValue = false;
  let before = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const unit = at === text.length ? 32 : text.charCodeAt(at);
    if (unit > 127) return unicodeTokens(text, aside);
    if (isWordUnit(unit)) {
      if (!inWord) isValue = unit <= 57 && text.charCodeAt(at - 1) !== 32;
      hash = mix(hash, unit);
      inWord = true;
      if (unit > 57) isNumber = false;
    } else if (inWord) {
      const token = finish(hash);
      if (!isNumber || !AMOUNTS.has(before)) insert(tokens, token);
      else aside.amounts.push(token);
      if (!isValue) aside.frameKey = (aside.frameKey + token) >>> 0;
      if (tokens.length === MAX_TOKENS) break;
      before = token;
      hash = START;
      inWord = false;
      isNumber = true;
    }
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
  aside.amounts = [];
  aside.frameKey = 0;
  const tokens: number[] = [];
  let before = 0;
  for (const { 0: word, index } of text.matchAll(/[\p{L}\p{N}_]+/gu)) {
    const token = wordToken(word);
    if (!AMOUNTS.has(before) || !/^\d+$/.test(word)) insert(tokens, token);
    else aside.amounts.push(token);
    if (!/^\d/.test(word) || text[index - 1] === ' ') aside.frameKey = (aside.frameKey + token) >>> 0;
    if (tokens.length === MAX_TOKENS) break;
    before = token;
  }
  return tokens;
}

/** Takes one unit in; ASCII capitals count as small letters. */
function mix(hash: number, unit: number): number {
  return Math.imul(hash ^ (unit >= 65 && unit <= 90 ? unit + 32 : unit), 0x01000193);
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
