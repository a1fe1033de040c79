import { isDigit, isWordUnit } from '../../base/unit-kinds.ts';
import { wordToken } from './tokens.ts';

const MIN_CHARS = 18;
const MAX_CHARS = 600;
const MIN_WORDS = 3;

/**
 * The words of the arguments, quotations, and words with digits are left out, so the key is equal for one refusal of
 * several tools. Undefined for fewer than 3 such words, few letters, or outside 18 to 600 characters.
 *
 * @param argsTokens  word hashes, in ascending order
 */
export function gistOf(text: string, tool: string, argsTokens: readonly number[]): number | undefined {
  if (text.length < MIN_CHARS || text.length > MAX_CHARS) return undefined;
  const toolToken = wordToken(tool);
  const words: number[] = [];
  let [sum, letters, start, quote, hasDigit] = [0, 0, -1, 0, false];
  for (let at = 0; at <= text.length; at += 1) {
    const unit = at < text.length ? text.charCodeAt(at) : SPACE;
    const isWord = unit > 127 || isWordUnit(unit);
    if (quote !== 0) {
      if (unit === quote || unit === LINE_BREAK) quote = 0;
      continue;
    }
    if (isWord) {
      if (start < 0) [start, hasDigit] = [at, false];
      hasDigit ||= isDigit(unit);
      continue;
    }
    // An apostrophe within a word is no quotation.
    if (unit === DOUBLE_QUOTE || unit === BACKTICK || (unit === SINGLE_QUOTE && start < 0)) quote = unit;
    if (start >= 0 && !hasDigit) {
      letters += at - start;
      const token = wordToken(text.slice(start, at));
      if (token !== toolToken && !words.includes(token) && !hasToken(argsTokens, token)) {
        words.push(token);
        sum = (sum + token) >>> 0;
      }
    }
    start = -1;
  }
  // A drawing or a table of numbers says nothing in words.
  return words.length < MIN_WORDS || letters < text.length / 3 ? undefined : sum;
}

function hasToken(tokens: readonly number[], token: number): boolean {
  let [low, high] = [0, tokens.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    // The index is below the length.
    const found = tokens[middle] as number;
    if (found === token) return true;
    if (found < token) low = middle + 1;
    else high = middle;
  }
  return false;
}

const SPACE = 0x20;
const LINE_BREAK = 0x0a;
const DOUBLE_QUOTE = 0x22;
const SINGLE_QUOTE = 0x27;
const BACKTICK = 0x60;

const SEARCHED_CHARS = 20_000;
const MIN_HITS = 2;
const MAX_HITS = 24;
/** An address, or the value of an id field. */
const HIT = /https?:\/\/[^\s"'<>)\]\\]+|"(?:\w+_)?id"\s*:\s*(?:"[^"\n]{1,80}"|\d+)/g;

/** Returns hashes of the addresses and ids in a result, in ascending order; undefined for fewer than 2. */
export function hitsOf(text: string): readonly number[] | undefined {
  if (!text.includes('://') && !text.includes('id"')) return undefined;
  const hits = new Set<number>();
  for (const [hit] of text.slice(0, SEARCHED_CHARS).matchAll(HIT)) {
    hits.add(wordToken(hit));
    if (hits.size === MAX_HITS) break;
  }
  return hits.size < MIN_HITS ? undefined : [...hits].sort((left, right) => left - right);
}

/** The hashes of a result without its digits. They show whether only numbers changed. */
interface AnswerLines {
  /** Equal for results that differ only in digits and blanks. */
  readonly shapeKey: number;
  /** Hashes of the lines without digits, in order. For a longer result: the first and the last 8 lines. */
  readonly lines: readonly number[];
}

const END_CHARS = 2_048;

const END_LINES = 8;

const HASH_SEED = 0x811c9dc5;

/** Most times and ids are equal once their digits are removed. Cost: one pass over at most 4,096 characters. */
export function answerLines(text: string): AnswerLines {
  const head = hashLines(text.length <= 2 * END_CHARS ? text : text.slice(0, END_CHARS));
  const tail = text.length <= 2 * END_CHARS ? head : hashLines(text.slice(-END_CHARS));
  let shapeKey = HASH_SEED;
  for (const line of head) shapeKey = Math.imul(shapeKey ^ line, 0x01000193);
  if (tail !== head) for (const line of tail) shapeKey = Math.imul(shapeKey ^ line, 0x01000193);
  const allHashes = tail === head ? head : [...head, ...tail];
  const lines =
    allHashes.length <= 2 * END_LINES ? allHashes : [...allHashes.slice(0, END_LINES), ...allHashes.slice(-END_LINES)];
  return { shapeKey: shapeKey >>> 0, lines };
}

function hashLines(text: string): readonly number[] {
  const lines: number[] = [];
  let hash = HASH_SEED;
  let letterCount = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const unit = at === text.length ? LINE_BREAK : text.charCodeAt(at);
    if (unit === LINE_BREAK) {
      if (letterCount > 0) lines.push(hash >>> 0);
      hash = HASH_SEED;
      letterCount = 0;
    } else if (unit > SPACE && (unit < DIGIT_ZERO || unit > DIGIT_NINE)) {
      hash = Math.imul(hash ^ unit, 0x01000193);
      letterCount += 1;
    }
  }
  return lines;
}

const DIGIT_ZERO = 0x30;

const DIGIT_NINE = 0x39;
