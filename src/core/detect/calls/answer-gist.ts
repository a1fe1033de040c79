import { wordToken } from './tokens.ts';

const MIN_CHARS = 18;
const MAX_CHARS = 600;
const MIN_WORDS = 3;

/**
 * Returns a key of what a short result says, without the names in it: the words of the arguments, quotations, and words with digits. Equal
 * for one refusal of several tools. Undefined for a result of fewer than 3 such words, with few letters, or outside 18 to 600 characters.
 *
 * @param argsTokens  word hashes of the arguments and of the tool, in any order
 */
export function gistOf(text: string, argsTokens: readonly number[]): number | undefined {
  if (text.length < MIN_CHARS || text.length > MAX_CHARS) return undefined;
  const words = new Set<number>();
  let wordChars = 0;
  for (const [word] of text.replaceAll(QUOTATION, ' ').matchAll(WORD)) {
    if (DIGIT.test(word)) continue;
    wordChars += word.length;
    const token = wordToken(word);
    if (!argsTokens.includes(token)) words.add(token);
  }
  // A drawing or a table of numbers says nothing in words.
  if (words.size < MIN_WORDS || wordChars < text.length / 3) return undefined;
  let sum = 0;
  for (const token of words) sum = (sum + token) >>> 0;
  return sum;
}

const QUOTATION = /"[^"\n]{0,200}"|`[^`\n]{0,200}`|(?<![A-Za-z])'[^'\n]{0,200}'(?![A-Za-z])/g;
const WORD = /[\p{L}\d_]+/gu;
const DIGIT = /\d/;

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
