import { hashText } from '../../base/hash.ts';
import { wordToken } from './tokens.ts';

/** A paragraph without its content. */
export interface Paragraph {
  readonly key: string;
  /** The smallest hashes of its word sequences, in ascending order. Likeness: see `similarity`. */
  readonly shingles: readonly number[];
}

/** A shorter paragraph may be a habit. */
const MIN_WORDS = 20;
const SHINGLE_WORDS = 3;
const MAX_SHINGLES = 24;
const MAX_CHARS = 20_000;
const MAX_PARAGRAPHS = 16;
const CODE = /^ {0,3}(`{3,}|~{3,})[^]*?(?:^ {0,3}\1|(?![^]))/gm;
/** A heading, a quoted line, a row of a table or of a list, an element, or code: each may be repeated on purpose. */
const STRUCTURED_LINE = /^\s*(?:[|>#<]|[-*+•] |\d+[.)] |\*\*|[✓✔✅❌☐☑])|^ {4}|[{};]\s*$/;
const QUOTATION = /"[^"]{1,400}"|“[^”]{1,400}”|`[^`\n]{1,200}`/g;
const WORD = /\p{L}+/gu;

/**
 * Returns the paragraphs of prose in a text of the agent. Lists, tables, headings, quotations and code are left out, and numbers do not count.
 *
 * Cost: one pass over at most 20,000 characters.
 */
export function paragraphsOf(text: string): readonly Paragraph[] {
  const paragraphs: Paragraph[] = [];
  for (const block of text
    .slice(0, MAX_CHARS)
    .replaceAll(CODE, '')
    .split(/\n\s*\n/)) {
    const lines = block.split('\n').filter((line) => !STRUCTURED_LINE.test(line));
    const words = lines.join(' ').replaceAll(QUOTATION, ' ').match(WORD) ?? [];
    if (words.length >= MIN_WORDS && paragraphs.length < MAX_PARAGRAPHS) paragraphs.push(paragraphOf(words));
  }
  return paragraphs;
}

function paragraphOf(words: readonly string[]): Paragraph {
  const tokens = words.map(wordToken);
  const shingles = new Set<number>();
  for (let at = 0; at + SHINGLE_WORDS <= tokens.length; at += 1) {
    let hash = 0;
    for (const token of tokens.slice(at, at + SHINGLE_WORDS)) hash = (Math.imul(hash, 0x01000193) ^ token) >>> 0;
    shingles.add(hash);
  }
  const sorted = [...shingles].sort((left, right) => left - right).slice(0, MAX_SHINGLES);
  return { key: hashText(tokens.join(' ')), shingles: sorted };
}
