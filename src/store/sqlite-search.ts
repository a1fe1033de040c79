import type { DatabaseSync } from 'node:sqlite';

import { CoxswainError } from '../base/error.ts';
import { parseRecord } from '../events/decode-record.ts';
import type { TrajectoryRecord } from '../events/trajectory-record.ts';
import { toHit } from './search-page.ts';
import type { CheckedSearchQuery } from './search-page.ts';
import type { SearchHit } from './trajectory-store.ts';

/** The join begins at the words, whatever SQLite thinks of it: they are what a search is about. */
const FIND_IDS = `
  SELECT found.id
  FROM record_words CROSS JOIN indexed_records AS found ON found.id = record_words.rowid
  WHERE record_words MATCH :match
    AND (:run_id IS NULL OR found.run_id = :run_id)
    AND (:kinds IS NULL OR found.kind IN (SELECT value FROM json_each(:kinds)))
    AND NOT EXISTS (SELECT 1 FROM removed_runs WHERE removed_runs.run_id = found.run_id)
    AND (:after_ms IS NULL OR (minus_at_ms, run_id, minus_seq) > (-:after_ms, :after_run_id, -:after_seq))
  ORDER BY minus_at_ms, run_id, minus_seq
  LIMIT :limit`;

/**
 * Answers a search from the index.
 *
 * @returns up to `limit + 1` hits, in order
 * Cost: a look at a short row for each record that holds the words, and decoding those that are given.
 */
export function searchSqlite(database: DatabaseSync, query: CheckedSearchQuery): readonly SearchHit[] {
  const { after, kinds, phrases, runId } = query;
  const ids = database.prepare(FIND_IDS).all({
    // Words have no quotes in them.
    match: phrases.map((phrase) => `"${phrase.join(' ')}"`).join(' AND '),
    run_id: runId ?? null,
    kinds: kinds === undefined ? null : JSON.stringify(kinds),
    after_ms: after?.atMs ?? null,
    after_run_id: after?.runId ?? null,
    after_seq: after?.seq ?? null,
    limit: query.limit + 1,
  });
  const read = database.prepare('SELECT json FROM records WHERE id = ?');
  return ids.flatMap(({ id }) => {
    const record = readable(String(read.get(Number(id))?.['json']));
    const hit = record === undefined ? undefined : toHit(record, phrases);
    return hit === undefined ? [] : [hit];
  });
}

/** Undefined for a record that was damaged since it was indexed: no reason to hide the others. */
function readable(json: string): TrajectoryRecord | undefined {
  try {
    return parseRecord(json);
  } catch (thrown) {
    if (thrown instanceof CoxswainError) return undefined;
    throw thrown;
  }
}
