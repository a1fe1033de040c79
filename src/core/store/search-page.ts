import { present } from '../base/present.ts';
import { Buffer } from 'node:buffer';

import { toStoredRecord } from '../records/encode-record.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import { isRunId } from './check-batch.ts';
import { checkPageLimit, readPageCursor, writePageCursor } from './page-cursor.ts';
import { recordText } from './record-text.ts';
import type { SearchHit, SearchPage, SearchQuery } from './trajectory-store.ts';
import { findPhrases, phrasesIn } from './words-in.ts';

const SNIPPET_CHARS = 200;
const CHARS_BEFORE_WORD = 60;

/** A position in the order of search results. Other records do not change it. */
export type SearchPlace = Pick<SearchHit, 'atMs' | 'runId' | 'seq'>;

/** A `SearchQuery` with its defaults, decoded text and decoded cursor. */
export interface CheckedSearchQuery {
  /** At least one phrase. Each phrase has at least one word, as `wordsIn` splits them. */
  readonly phrases: readonly (readonly string[])[];
  readonly limit: number;
  readonly runId?: string;
  readonly kinds?: readonly string[];
  /** The last hit of the previous page. */
  readonly after?: SearchPlace;
}

/** @throws CoxswainError `invalid-argument` as `search` documents */
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

/**
 * Creates a page of search results in order.
 *
 * @param hits  the results after the cursor; more than `limit` results show that there is another page
 */
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

/** Returns the stored kind. For an unrecognised payload, that is the kind of the original. */
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

/** Returns true if there is a low surrogate at `at` inside the text. */
function splitsPair(text: string, index: number): boolean {
  return index > 0 && (text.charCodeAt(index) & 0xfc00) === 0xdc00;
}

function toPlace([atMs, runId, seq, ...extraParts]: readonly unknown[]): SearchPlace | undefined {
  const isPlace = typeof atMs === 'number' && isRunId(runId) && Number.isSafeInteger(seq) && extraParts.length === 0;
  return isPlace ? { atMs, runId, seq: Number(seq) } : undefined;
}
