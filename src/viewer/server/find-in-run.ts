import { steadyMs } from '../../core/base/clock.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { recordText } from '../../core/store/run-check.ts';
import type { RunSummary } from '../../core/facts/run-summary.ts';
import type { FindAnswer } from './api-shapes.ts';
import { createBreather } from '../../core/node/breather.ts';
import { isDamage } from './read-records.ts';
import { findWords } from './find-words.ts';
import type { RunReader } from './run-reader.ts';
import { problemOf } from './viewer-fault.ts';

/** Maximum search time per response. */
const SEARCH_TIME_MS = 1_000;
/** Number of records read at a time in a backward search. */
const CHUNK_RECORDS = 500;

export interface FindQuery {
  /** A record matches if it contains each of these words, ignoring case. */
  readonly text: string;
  /** The first record to search. */
  readonly fromSeq: number;
  readonly direction: 'next' | 'prev';
}

/**
 * Finds the next or previous record that contains a text. It searches for up to a second per response.
 *
 * @returns `problem` if a damaged record ended the search
 * @throws CoxswainError if the store cannot be read
 */
export async function findRecord(reader: RunReader, run: RunSummary, query: FindQuery): Promise<FindAnswer> {
  const endMs = steadyMs() + SEARCH_TIME_MS;
  const matches = createMatcher(query);
  try {
    return query.direction === 'next'
      ? await findNext(reader, run, { query, matches, endMs })
      : await findPrevious(reader, run, { query, matches, endMs });
  } catch (error) {
    if (isDamage(error)) return { seq: null, problem: problemOf(error).problem };
    throw error;
  }
}

interface Search {
  readonly query: FindQuery;
  readonly matches: (record: TrajectoryRecord) => boolean;
  readonly endMs: number;
}

async function findNext(reader: RunReader, run: RunSummary, { endMs, matches, query }: Search): Promise<FindAnswer> {
  const pauseIfDue = createBreather();
  for await (const record of reader.readRun(run.runId, { fromSeq: query.fromSeq })) {
    if (matches(record)) return { seq: record.seq };
    if (steadyMs() > endMs) return { seq: null, resumeFrom: record.seq + 1 };
    const pause = pauseIfDue();
    if (pause !== undefined) await pause;
  }
  return { seq: null };
}

async function findPrevious(
  reader: RunReader,
  run: RunSummary,
  { endMs, matches, query }: Search,
): Promise<FindAnswer> {
  const pauseIfDue = createBreather();
  let end = Math.min(query.fromSeq, run.lastSeq) + 1;
  while (end > 0) {
    const from = Math.max(0, end - CHUNK_RECORDS);
    let lastMatch: number | undefined;
    for await (const record of reader.readRun(run.runId, { fromSeq: from, limit: end - from })) {
      if (record.seq >= end) break;
      if (matches(record)) lastMatch = record.seq;
      const pause = pauseIfDue();
      if (pause !== undefined) await pause;
    }
    if (lastMatch !== undefined) return { seq: lastMatch };
    end = from;
    if (end > 0 && steadyMs() > endMs) return { seq: null, resumeFrom: end - 1 };
  }
  return { seq: null };
}

function createMatcher({ text }: FindQuery): (record: TrajectoryRecord) => boolean {
  const words = findWords(text);
  return (record) => {
    const recordWords = searchedText(record).toLowerCase();
    return words.every((word) => recordWords.includes(word));
  };
}

/** Returns the text of a record, with the names of a call's arguments, which the page shows too. */
function searchedText(record: TrajectoryRecord): string {
  const { payload } = record;
  const text = recordText(record);
  if (payload.kind !== 'tool_started' || typeof payload.args !== 'object' || payload.args === null) return text;
  return `${text}\n${Object.keys(payload.args).join('\n')}`;
}
