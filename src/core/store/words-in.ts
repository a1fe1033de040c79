import { invalidArgument } from '../base/error.ts';

/** Maximum length of a word that is compared. Longer words, such as base64, are compared by their beginning. */
const MAX_WORD_CHARS = 64;

/** The normalised words of a text and their positions. */
export interface TextWords {
  readonly words: readonly string[];
  /** Start index of each word, in UTF-16 units. */
  readonly offsets: readonly number[];
}

const ASCII = /^[\0-\x7f]*$/;
const ASCII_WORD = /[A-Za-z0-9]+/g;

/** In scripts without spaces, each character is a word. */
const WORD =
  /[[\p{L}\p{N}\p{M}]&&[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]]|[[\p{L}\p{N}]--[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]][[\p{L}\p{N}\p{M}]--[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]]*/gv;

/**
 * Splits a text into words: sequences of letters, digits and their marks. Case and compatibility forms are ignored (NFKC,
 * lower case), accents are not. Every driver searches by these words.
 *
 * Cost: linear.
 */
export function wordsIn(text: string): TextWords {
  const words: string[] = [];
  const offsets: number[] = [];
  const isAscii = ASCII.test(text);
  for (const match of text.matchAll(isAscii ? ASCII_WORD : WORD)) {
    const [token] = match;
    const normalizedWords = isAscii ? [token.toLowerCase()] : (token.normalize('NFKC').toLowerCase().match(WORD) ?? []);
    for (const word of normalizedWords) {
      words.push(word.slice(0, MAX_WORD_CHARS));
      offsets.push(match.index);
    }
  }
  return { words, offsets };
}

/** Maximum length of a query in UTF-16 units. */
const MAX_QUERY_CHARS = 1000;
const SEGMENT = /"([^"]*)"|[^\s"]+/g;

/**
 * Splits a query into phrases: words and `"quoted phrases"`. A word with punctuation inside, such as `src/a.ts`, is a
 * phrase of its parts. There is no other syntax.
 *
 * @returns the phrases, each of at least one word
 * @throws CoxswainError `invalid-argument` for a text without words or over 1,000 UTF-16 units
 */
export function phrasesIn(text: string): readonly (readonly string[])[] {
  if (text.length > MAX_QUERY_CHARS) {
    throw invalidArgument(`a search has at most ${MAX_QUERY_CHARS} characters, got ${text.length}`);
  }
  const phrases: (readonly string[])[] = [];
  for (const match of text.matchAll(SEGMENT)) {
    const { words } = wordsIn(match[1] ?? match[0]);
    if (words.length > 0) phrases.push(words);
  }
  if (phrases.length > 0) return phrases;
  throw invalidArgument(`a search needs at least one word, got ${JSON.stringify(text)}`);
}

/**
 * Searches a text for all phrases.
 *
 * @returns the position of the first phrase in UTF-16 units; undefined unless all phrases are found
 */
export function findPhrases(text: string, phrases: readonly (readonly string[])[]): number | undefined {
  const { words, offsets } = wordsIn(text);
  let firstPlace: number | undefined;
  for (const phrase of phrases) {
    const index = indexOfPhrase(words, phrase);
    if (index < 0) return undefined;
    firstPlace ??= offsets[index];
  }
  return firstPlace;
}

function indexOfPhrase(words: readonly string[], phrase: readonly string[]): number {
  for (let start = words.indexOf(phrase[0] ?? ''); start >= 0; start = words.indexOf(phrase[0] ?? '', start + 1)) {
    if (phrase.every((word, index) => words[start + index] === word)) return start;
  }
  return -1;
}
