import { similarity, wordToken } from '../calls/tokens.ts';
import { defineDetector, countShape, type DetectorFactory } from './define-detector.ts';
import { appendEvidence, reportCount } from './level.ts';
import { hashText } from '../../base/hash.ts';

export interface Paragraph {
  readonly key: string;
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

/** Without lists, tables, headings, quotations and code; numbers do not count. Cost: one pass over at most 20,000 characters. */
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

interface Seen {
  readonly key: string;
  readonly shingles: readonly number[];
  readonly count: number;
  /** Number of the last text that had it. */
  readonly text: number;
  readonly evidence: readonly number[];
}

interface State {
  readonly seen: readonly Seen[];
  readonly texts: number;
  readonly requests: number;
}

const EMPTY: State = { seen: [], texts: 0, requests: 0 };
const MAX_SEEN = 48;
/** Texts after which a paragraph may come again. */
const MAX_BETWEEN = 4;
const MIN_LIKENESS = 0.75;

/**
 * The agent writes the same paragraph or plan again and again, in its answers or its visible thinking. Paragraphs are compared by sequences of
 * words, without numbers.
 *
 * Warns at:
 * - 3 paragraphs of 20 words or more that are nearly equal (`warnAt`), with at most 4 other texts in between.
 * - No hint.
 *
 * Resets on:
 * - A message of the user.
 * - A call with a new result: the agent goes on and only says the same words.
 *
 * Ignores:
 * - Lists, tables, headings, quotations and code.
 */
export const repeatedTextDetector: DetectorFactory<'warnAt'> = defineDetector(
  'repeated_text',
  { warnAt: countShape(3) },
  ({ warnAt }, snapshot: State = EMPTY) => {
    let state = snapshot;
    return {
      observe({ failure }, { novel }) {
        if (novel && failure === undefined) state = { ...state, seen: [] };
        return undefined;
      },
      read(text, { callIndex, requests }) {
        const texts = state.texts + 1;
        let seen = state.requests === requests ? state.seen : [];
        let most: Seen | undefined;
        for (const { key, shingles } of paragraphsOf(text)) {
          const previous = seen.find(
            (other) => texts - other.text <= MAX_BETWEEN + 1 && similarity(other.shingles, shingles) >= MIN_LIKENESS,
          );
          const now: Seen = {
            key: previous?.key ?? key,
            shingles,
            count: (previous?.count ?? 0) + 1,
            text: texts,
            evidence: appendEvidence(previous?.evidence ?? [], callIndex),
          };
          seen = [...seen.filter((other) => other !== previous).slice(1 - MAX_SEEN), now];
          if (now.count >= (most?.count ?? warnAt)) most = now;
        }
        state = { seen, texts, requests };
        if (most === undefined) return undefined;
        const { key, count, evidence } = most;
        return reportCount({ kind: 'repeated_text', key, evidence: [...new Set(evidence)] }, count, warnAt);
      },
      snapshot: () => state,
    };
  },
);
