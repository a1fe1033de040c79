import { present } from '../base/json.ts';
import { Buffer } from 'node:buffer';
import { toStoredRecord } from '../records/decode-record.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import { isRunId } from './check-batch.ts';
import { checkPageLimit, readPageCursor, writePageCursor } from './page-cursor.ts';
import { recordText } from './run-check.ts';
import type { SearchHit, SearchPage, SearchQuery } from './trajectory-store.ts';
import { invalidArgument } from '../base/error.ts';

const SNIPPET_CHARS = 200;
const CHARS_BEFORE_WORD = 60;

export type SearchPlace = Pick<SearchHit, 'atMs' | 'runId' | 'seq'>;

export interface CheckedSearchQuery {
  /** At least one phrase. Each phrase has at least one word, as `wordsIn` splits them. */
  readonly phrases: readonly (readonly string[])[];
  readonly limit: number;
  readonly runId?: string;
  readonly kinds?: readonly string[];
  readonly after?: SearchPlace;
}

export function checkSearchQuery(query: SearchQuery): CheckedSearchQuery {
  const { text, after, runId, kinds } = query;
  const limit = checkPageLimit(query.limit);
  return {
    phrases: phrasesIn(text),
    limit,
    ...present({ runId, kinds }),
    ...(after !== undefined && { after: readPageCursor(after, toPlace) }),
  };
}

/** @param hits  the results after the cursor; more than `limit` show that there is another page */
export function toSearchPage(
  hits: readonly SearchHit[],
  limit: number,
  { notIndexed = 0, damaged = [] }: Partial<Pick<SearchPage, 'notIndexed' | 'damaged'>> = {},
): SearchPage {
  const page = hits.slice(0, limit);
  const lastHit = page.at(-1);
  return {
    hits: page,
    ...(hits.length > limit &&
      lastHit !== undefined && { next: writePageCursor([lastHit.atMs, lastHit.runId, lastHit.seq]) }),
    notIndexed,
    ...(damaged.length > 0 && { damaged }),
  };
}

/** Compares two results: the latest time first, then by `runId` in code point order, then the highest `seq` first. */
export function compareHits(left: SearchPlace, right: SearchPlace): number {
  if (left.atMs !== right.atMs) return right.atMs - left.atMs;
  if (left.runId === right.runId) return right.seq - left.seq;
  return Buffer.compare(Buffer.from(left.runId), Buffer.from(right.runId));
}

/** Returns the search result for a record, or undefined if its text does not contain all phrases. Only the text is checked. */
export function toHit(record: TrajectoryRecord, phrases: CheckedSearchQuery['phrases']): SearchHit | undefined {
  const text = recordText(record);
  const matchIndex = findPhrases(text, phrases);
  if (matchIndex === undefined) return undefined;
  return {
    runId: record.run_id ?? '',
    seq: record.seq,
    atMs: record.recorded_at_unix_ms,
    kind: storedKind(record),
    snippet: snippetAt(text, matchIndex),
  };
}

export function storedKind(record: TrajectoryRecord): string {
  // Every stored record has a kind, which is a string.
  return toStoredRecord(record).payload.kind as string;
}

/** Returns at most 200 UTF-16 units around an index in a text, without splitting a character. */
function snippetAt(text: string, matchIndex: number): string {
  const start = Math.max(0, Math.min(matchIndex - CHARS_BEFORE_WORD, text.length - SNIPPET_CHARS));
  const end = start + SNIPPET_CHARS;
  return text.slice(start + (splitsPair(text, start) ? 1 : 0), end - (splitsPair(text, end) ? 1 : 0));
}

function splitsPair(text: string, index: number): boolean {
  return index > 0 && (text.charCodeAt(index) & 0xfc00) === 0xdc00;
}

function toPlace([atMs, runId, seq, ...extraParts]: readonly unknown[]): SearchPlace | undefined {
  const isPlace = typeof atMs === 'number' && isRunId(runId) && Number.isSafeInteger(seq) && extraParts.length === 0;
  return isPlace ? { atMs, runId, seq: Number(seq) } : undefined;
}

interface SearchScan {
  offer(record: TrajectoryRecord): void;
  readonly hits: readonly SearchHit[];
}

/** Cost: `offer` reads the text of a record unless its time, run or kind exclude it. Memory is one page of results. */
export function createSearchScan(query: CheckedSearchQuery): SearchScan {
  const { after, limit, phrases } = query;
  const kinds = query.kinds === undefined ? undefined : new Set(query.kinds);
  const hits: SearchHit[] = [];

  function isCandidate(record: TrajectoryRecord, place: SearchPlace): boolean {
    if (query.runId !== undefined && query.runId !== place.runId) return false;
    if (kinds !== undefined && !kinds.has(storedKind(record))) return false;
    if (after !== undefined && compareHits(after, place) >= 0) return false;
    const lastHit = hits.at(-1);
    return hits.length <= limit || lastHit === undefined || compareHits(place, lastHit) < 0;
  }

  return {
    offer(record): void {
      const place = { atMs: record.recorded_at_unix_ms, runId: record.run_id ?? '', seq: record.seq };
      const hit = isCandidate(record, place) ? toHit(record, phrases) : undefined;
      if (hit === undefined) return;
      let [low, high] = [0, hits.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        const otherHit = hits[middle];
        if (otherHit !== undefined && compareHits(hit, otherHit) > 0) low = middle + 1;
        else high = middle;
      }
      hits.splice(low, 0, hit);
      if (hits.length > limit + 1) hits.pop();
    },
    hits,
  };
}

/** Maximum length of a word that is compared. Longer words, such as base64, are compared by their beginning. */
const MAX_WORD_CHARS = 64;

interface TextWords {
  readonly words: readonly string[];
  /** Start index of each word, in UTF-16 units. */
  readonly offsets: readonly number[];
}

const ASCII = /^[\0-\x7f]*$/;
const ASCII_WORD = /[A-Za-z0-9]+/g;

/** In scripts without spaces, each character is a word. */
const WORD =
  /[[\p{L}\p{N}\p{M}]&&[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]]|[[\p{L}\p{N}]--[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]][[\p{L}\p{N}\p{M}]--[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]]*/gv;

/** Letters, digits and their marks, in NFKC and lower case, with accents. Every driver searches by these words. */
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
 * Words and `"quoted phrases"`. A word with punctuation inside, such as `src/a.ts`, is a phrase of its parts.
 *
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

/** @returns the position of the first phrase in UTF-16 units; undefined unless all phrases are found */
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
