import { CoxswainError } from '../../core/base/error.ts';
import { parseRecord } from '../../core/records/decode-record.ts';
import { toHit, type CheckedSearchQuery, type SearchPlace } from '../../core/store/search-page.ts';
import type { SqliteSession } from './sqlite-reads.ts';
import { isNotRemoved, RECORD_COLUMNS, SUMMARY_COLUMNS } from './sqlite-statements.ts';
import { type DamagedPlace, isDamaged } from '../../core/store/store-error.ts';
import type { SearchHit } from '../../core/store/trajectory-store.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import type { RunSummary } from '../../core/facts/run-summary.ts';
import { openReadOnly } from './sqlite-database.ts';

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

interface FoundRecords {
  readonly hits: readonly SearchHit[];
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

interface RunGlance {
  readonly summary: RunSummary;
  readonly records: readonly TrajectoryRecord[];
}

/** Number of the most recently started runs that are considered. The run with the latest record is shown. */
const RECENT_RUNS = 50;
/** A run's deadline is set within its first few records. */
export const HEAD_RECORDS = 64;
/** This is about 250 calls. */
export const TAIL_RECORDS = 2_000;
const LOCK_LIMIT_MS = 200;

/**
 * For a process that is started every second: opens read-only and waits 200 ms at most. Without `runId`: the run with
 * the latest record that is neither a subagent's nor imported. Leaves damaged rows out. Cost: reads 50 summaries and
 * 2,064 records at most.
 *
 * @throws CoxswainError as `openReadOnly`, and what SQLite throws
 */
export function glanceSqlite(file: string, runId?: string): RunGlance | undefined {
  const readOnlyDatabase = openReadOnly(file, { timeoutMs: LOCK_LIMIT_MS });
  try {
    const { checks, database } = readOnlyDatabase.session;
    const rows =
      runId === undefined ? database.prepare(RECENT_SQL).all(RECENT_RUNS) : database.prepare(ONE_SQL).all(runId);
    const summary = rows
      .flatMap((row) => readIfIntact(() => checks.summary(row)))
      .filter(({ depth, format }) => runId !== undefined || (depth === 0 && format === undefined))
      .toSorted((a, b) => b.lastAtMs - a.lastAtMs)[0];
    if (summary === undefined) return undefined;
    const fromSeq = Math.max(HEAD_RECORDS, summary.lastSeq - TAIL_RECORDS);
    const records = database
      .prepare(STATUS_SQL)
      .all(summary.runId, HEAD_RECORDS, fromSeq)
      .flatMap((row) => readIfIntact(() => checks.record(row)))
      // Its checksum is correct, so the store wrote it, and the store writes only records.
      .map(({ json }) => JSON.parse(json) as TrajectoryRecord);
    return { summary, records };
  } finally {
    readOnlyDatabase.close();
  }
}

/** Returns an empty list for a damaged row. `coxswain verify` reports damage. */
function readIfIntact<Row>(check: () => Row): readonly Row[] {
  try {
    return [check()];
  } catch (thrown) {
    if (isDamaged(thrown)) return [];
    throw thrown;
  }
}

/** Quotes inside strings are escaped; a match nested in arguments is excluded by its place later. */
const IS_STATUS = `(instr(json, '"kind":"pattern_') > 0 OR instr(json, '"kind":"deadline_set"') > 0 OR instr(json, '"usage":{') > 0)`;

const SELECT_RUNS = `SELECT ${SUMMARY_COLUMNS} FROM runs WHERE ${isNotRemoved('runs.run_id')}`;
const RECENT_SQL = `${SELECT_RUNS} ORDER BY minus_started_ms, run_id LIMIT ?`;
const ONE_SQL = `${SELECT_RUNS} AND run_id = ?`;

const SELECT_RECORDS = `SELECT ${RECORD_COLUMNS} FROM records WHERE run_id = ?1`;
/** Two ranges instead of one condition, so that the index is used and not every record is read. */
const STATUS_SQL =
  `${SELECT_RECORDS} AND seq < ?2 AND (seq = 0 OR ${IS_STATUS}) UNION ALL ` +
  `${SELECT_RECORDS} AND seq >= ?3 AND ${IS_STATUS} ORDER BY seq`;
