import { CoxswainError } from '../../core/base/error.ts';
import { parseRecord } from '../../core/records/decode-record.ts';
import { toHit, type CheckedSearchQuery, type SearchPlace } from '../../core/store/search-page.ts';
import type { SqliteSession } from './sqlite-reads.ts';
import { isNotRemoved, RECORD_COLUMNS } from './sqlite-statements.ts';
import type { DamagedPlace } from '../../core/store/store-error.ts';
import type { SearchHit } from '../../core/store/trajectory-store.ts';

/** CROSS JOIN makes SQLite start with the words. */
const FIND_PLACES = `
  SELECT found.id, -minus_at_ms AS at_ms, found.run_id, -minus_seq AS seq
  FROM record_words CROSS JOIN indexed_records AS found ON found.id = record_words.rowid
  WHERE record_words MATCH :match
    AND (:run_id IS NULL OR found.run_id = :run_id)
    AND (:kinds IS NULL OR found.kind IN (SELECT value FROM json_each(:kinds)))
    AND ${isNotRemoved('found.run_id')}
    AND (:after_ms IS NULL OR (minus_at_ms, run_id, minus_seq) > (-:after_ms, :after_run_id, -:after_seq))
  ORDER BY minus_at_ms, run_id, minus_seq
  LIMIT :limit`;

/** Search results from the index. */
export interface FoundRecords {
  /** Up to `limit + 1`, in order. */
  readonly hits: readonly SearchHit[];
  /** Records that the index names but that are damaged or are not the named ones. */
  readonly damaged: readonly DamagedPlace[];
}

/** Searches the index. Cost: a read of a short row per record with the words, and decoding the results. */
export function searchSqlite(session: SqliteSession, query: CheckedSearchQuery): FoundRecords {
  const { kinds, phrases, runId, limit } = query;
  const { checks, database } = session;
  const findPlaces = database.prepare(FIND_PLACES);
  const readRecord = database.prepare(`SELECT ${RECORD_COLUMNS} FROM records WHERE id = ?`);
  const hits: SearchHit[] = [];
  const damaged: DamagedPlace[] = [];

  function readHit(id: number, place: SearchPlace): SearchHit | undefined {
    try {
      const row = readRecord.get(id);
      const record = row === undefined ? undefined : checks.record(row);
      if (record?.runId !== place.runId || record.seq !== place.seq) throw new CoxswainError('store-damaged', 'moved');
      return toHit(parseRecord(record.json), phrases);
    } catch (thrown) {
      if (!(thrown instanceof CoxswainError)) throw thrown;
      damaged.push({ runId: place.runId, seq: place.seq });
      return undefined;
    }
  }

  for (let after = query.after, isLast = false; !isLast && hits.length <= limit;) {
    const rows = findPlaces.all({
      // Words contain no quotes.
      match: phrases.map((phrase) => `"${phrase.join(' ')}"`).join(' AND '),
      run_id: runId ?? null,
      kinds: kinds === undefined ? null : JSON.stringify(kinds),
      after_ms: after?.atMs ?? null,
      after_run_id: after?.runId ?? null,
      after_seq: after?.seq ?? null,
      limit: limit + 1,
    });
    isLast = rows.length <= limit;
    for (const row of rows) {
      after = { atMs: Number(row['at_ms']), runId: String(row['run_id']), seq: Number(row['seq']) };
      const hit = readHit(Number(row['id']), after);
      if (hit !== undefined && hit.atMs === after.atMs) hits.push(hit);
    }
  }
  return { hits: hits.slice(0, limit + 1), damaged };
}
