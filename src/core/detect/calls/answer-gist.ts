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
  const left = new Set([wordToken(tool), ...argsTokens]);
  const words = new Set<number>();
  let letters = 0;
  for (const [word] of text.replaceAll(QUOTATION, ' ').matchAll(WORD)) {
    letters += word.length;
    const token = wordToken(word);
    if (!left.has(token)) words.add(token);
  }
  // A drawing or a table of numbers says nothing in words.
  if (words.size < MIN_WORDS || letters < text.length / 3) return undefined;
  let sum = 0;
  for (const token of words) sum = (sum + token) >>> 0;
  return sum;
}

/** An apostrophe within a word is no quotation. */
const QUOTATION = /"[^"\n]*"?|`[^`\n]*`?|(?<!\w)'[^'\n]*'?/g;
/** A word without digits. */
const WORD = /(?<![\w\x80-\uffff])[A-Za-z_\x80-\uffff]+(?![\w\x80-\uffff])/g;

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
const SPACE = 0x20;
const LINE_BREAK = 0x0a;
const DIGIT_ZERO = 0x30;
const DIGIT_NINE = 0x39;

/** Most times and ids are equal once their digits are removed. Cost: one pass over at most 4,096 characters. */
export function answerLines(text: string): AnswerLines {
  const all = hashLines(text.length <= 2 * END_CHARS ? text : `${text.slice(0, END_CHARS)}\n${text.slice(-END_CHARS)}`);
  const shapeKey = all.reduce((key, line) => Math.imul(key ^ line, 0x01000193), HASH_SEED) >>> 0;
  return {
    shapeKey,
    lines: all.length <= 2 * END_LINES ? all : [...all.slice(0, END_LINES), ...all.slice(-END_LINES)],
  };
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
