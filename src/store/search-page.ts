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

/** Where a hit lies in the order of a search: it does not move when other records arrive. */
export type SearchPlace = Pick<SearchHit, 'atMs' | 'runId' | 'seq'>;

/** A `SearchQuery` with its defaults filled in and its text and cursor read. */
export interface CheckedSearchQuery {
  /** At least one phrase, each of at least one word as `wordsIn` gives them. */
  readonly phrases: readonly (readonly string[])[];
  readonly limit: number;
  readonly runId?: string;
  readonly kinds?: readonly string[];
  /** The last hit of the page before. */
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
 * Makes a page of hits that are in order.
 *
 * @param hits  up to `limit + 1` of them, beginning after the cursor: the one too many tells that there is more
 */
export function toSearchPage(
  hits: readonly SearchHit[],
  limit: number,
  { notIndexed = 0, damaged = [] }: Partial<Pick<SearchPage, 'notIndexed' | 'damaged'>> = {},
): SearchPage {
  const page = hits.slice(0, limit);
  const last = page.at(-1);
  return {
    hits: page,
    ...(hits.length > limit && last !== undefined && { next: writePageCursor([last.atMs, last.runId, last.seq]) }),
    notIndexed,
    ...(damaged.length > 0 && { damaged }),
  };
}

/** The order of a search: the latest time first, then by `runId` in code point order, then the highest `seq` first. */
export function compareHits(left: SearchPlace, right: SearchPlace): number {
  if (left.atMs !== right.atMs) return right.atMs - left.atMs;
  if (left.runId === right.runId) return right.seq - left.seq;
  return Buffer.compare(Buffer.from(left.runId), Buffer.from(right.runId));
}

/** The hit that a record is, or undefined where its text does not hold all the phrases. Looks at nothing else. */
export function toHit(record: TrajectoryRecord, phrases: CheckedSearchQuery['phrases']): SearchHit | undefined {
  const text = recordText(record);
  const at = findPhrases(text, phrases);
  if (at === undefined) return undefined;
  return {
    runId: record.run_id ?? '',
    seq: record.seq,
    atMs: record.recorded_at_unix_ms,
    kind: storedKind(record),
    snippet: snippetAt(text, at),
  };
}

/** The kind as it is stored: of an unrecognised payload, its own. */
export function storedKind(record: TrajectoryRecord): string {
  // Every record that is stored has a kind, which is a text.
  return toStoredRecord(record).payload.kind as string;
}

/** At most 200 UTF-16 units of a text around a place in it; no character is cut. */
function snippetAt(text: string, at: number): string {
  const start = Math.max(0, Math.min(at - CHARS_BEFORE_WORD, text.length - SNIPPET_CHARS));
  let snippet = text.slice(start, start + SNIPPET_CHARS);
  if (start > 0 && isLowSurrogate(snippet, 0)) snippet = snippet.slice(1);
  if (start + SNIPPET_CHARS < text.length && isHighSurrogate(snippet, snippet.length - 1))
    snippet = snippet.slice(0, -1);
  return snippet;
}

function isHighSurrogate(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800;
}

function isLowSurrogate(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00;
}

function toPlace([atMs, runId, seq, ...more]: readonly unknown[]): SearchPlace | undefined {
  const isPlace = typeof atMs === 'number' && isRunId(runId) && Number.isSafeInteger(seq) && more.length === 0;
  return isPlace ? { atMs, runId, seq: Number(seq) } : undefined;
}
