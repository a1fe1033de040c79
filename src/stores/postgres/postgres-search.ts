import { systemClock } from '../../core/base/clock.ts';
import { CoxswainError, hasCode } from '../../core/base/error.ts';
import { parseRecord } from '../../core/records/decode-record.ts';
import type { PostgresClient, PostgresRow, PostgresValue } from './postgres-client.ts';
import { toStoredRow, fromIdText, joinTexts, listParameter, toIdText, toKindText } from './postgres-run-row.ts';
import {
  storedKind,
  toHit,
  toSearchPage,
  type CheckedSearchQuery,
  type SearchPlace,
  wordsIn,
} from '../../core/store/search-page.ts';
import type { DamagedPlace } from '../../core/store/store-error.ts';
import type { SearchHit, SearchPage } from '../../core/store/trajectory-store.ts';
import { recordText } from '../../core/store/run-check.ts';

const INSUFFICIENT_PRIVILEGE = '42501';
const FOREIGN_KEY_VIOLATION = '23503';

/** Maximum time in milliseconds that a search indexes missing records before it answers. */
const CATCH_UP_MS = 2000;

/** Maximum number of records, and of UTF-8 bytes of JSON, that one statement indexes. */
const RECORDS_A_STEP = 500;
const BYTES_A_STEP = 1024 * 1024;

/** A `tsvector` is limited to a megabyte. A record with more words than fit is a candidate of every search. */
const MAX_WORD_BYTES = 500_000;

const CANDIDATES_A_PAGE = 100;

/** Indexes missing records for at most two seconds. Words are split here, as for every driver, and candidates checked. */
export async function searchPostgres(
  client: PostgresClient,
  schema: string,
  query: CheckedSearchQuery,
): Promise<SearchPage> {
  const isIndexComplete = await indexRecords(client, schema, query.runId).catch((thrown: unknown) => {
    // A read-only role cannot index: it searches the records that other clients have indexed.
    if (hasCode(thrown, INSUFFICIENT_PRIVILEGE)) return false;
    throw thrown;
  });
  const hits: SearchHit[] = [];
  const damaged: DamagedPlace[] = [];
  let after = query.after;
  for (let isLast = false; !isLast && hits.length <= query.limit;) {
    const rows = await client.query(candidatesSql(schema, query, after), candidateValues(query, after));
    isLast = rows.length < CANDIDATES_A_PAGE;
    for (const row of rows) {
      after = { atMs: Number(row['at']), runId: fromIdText(String(row['id'])), seq: Number(row['seq']) };
      try {
        const record = parseRecord(toStoredRow(row, after.runId).json);
        const isWanted = query.kinds?.includes(storedKind(record)) ?? true;
        const hit = isWanted ? toHit(record, query.phrases) : undefined;
        if (hit !== undefined) hits.push(hit);
      } catch (thrown) {
        if (!(thrown instanceof CoxswainError)) throw thrown;
        damaged.push({ runId: after.runId, seq: after.seq });
      }
    }
  }
  return toSearchPage(hits, query.limit, {
    notIndexed: isIndexComplete ? 0 : await countNotIndexed(client, schema),
    damaged,
  });
}

function candidatesSql(schema: string, query: CheckedSearchQuery, after: SearchPlace | undefined): string {
  const conditions = ['(w.words @@ $1::tsquery OR w.words IS NULL)'];
  let index = 1;
  const nextParameter = (): string => `$${(index += 1)}`;
  if (query.runId !== undefined) conditions.push(`r.run_id = ${nextParameter()}`);
  if (query.kinds !== undefined) conditions.push(`w.kind = ANY (${listParameter((index += 1))})`);
  if (after !== undefined) {
    const [at, id, seq] = [nextParameter(), nextParameter(), nextParameter()];
    conditions.push(
      `(w.at_ms < ${at}::float8 OR (w.at_ms = ${at}::float8 AND
        (r.run_id > ${id} OR (r.run_id = ${id} AND w.seq < ${seq}::bigint))))`,
    );
  }
  return `SELECT found.id, found.seq::text AS seq, found.at_ms::text AS at, records.json,
      records.checksum::text AS checksum FROM (
      SELECT w.month, w.run_no, w.seq, w.at_ms, r.run_id AS id
      FROM ${schema}.record_words w JOIN ${schema}.runs r USING (run_no) WHERE ${conditions.join(' AND ')}
      ORDER BY w.at_ms DESC, r.run_id, w.seq DESC LIMIT ${CANDIDATES_A_PAGE}
    ) AS found JOIN ${schema}.records USING (month, run_no, seq) ORDER BY found.at_ms DESC, found.id, found.seq DESC`;
}

function candidateValues(query: CheckedSearchQuery, after: SearchPlace | undefined): readonly PostgresValue[] {
  const words = [...new Set(query.phrases.flat())];
  return [
    words.map(quoteWord).join(' & '),
    ...(query.runId === undefined ? [] : [toIdText(query.runId)]),
    ...(query.kinds === undefined ? [] : [joinTexts(query.kinds.map(toKindText))]),
    ...(after === undefined ? [] : [String(after.atMs), toIdText(after.runId), String(after.seq)]),
  ];
}

function quoteWord(word: string): string {
  return `'${word.toWellFormed()}'`;
}

/** @returns true if everything is indexed. Concurrent processes may do the same work twice */
async function indexRecords(client: PostgresClient, schema: string, runId: string | undefined): Promise<boolean> {
  const endMs = systemClock.nowMs() + CATCH_UP_MS;
  for (;;) {
    const runs = await client.query(
      `SELECT r.run_no::text AS run, r.month::text AS month, coalesce(i.through_seq, -1)::text AS seq,
         r.last_seq::text AS last, r.run_id AS id
       FROM ${schema}.runs r LEFT JOIN ${schema}.indexed_runs i USING (run_no)
       WHERE r.last_seq > coalesce(i.through_seq, -1) AND ($1::text IS NULL OR r.run_id = $1)
       ORDER BY r.run_no DESC LIMIT 200`,
      [runId === undefined ? null : toIdText(runId)],
    );
    if (runs.length === 0) return true;
    for (const run of runs) {
      const runState = {
        run: String(run['run']),
        month: String(run['month']),
        lastSeq: Number(run['last']),
        runId: fromIdText(String(run['id'])),
      };
      for (let throughSeq = Number(run['seq']); throughSeq < runState.lastSeq;) {
        if (systemClock.nowMs() >= endMs) return false;
        throughSeq = await indexNextRecords(client, schema, { ...runState, throughSeq }).catch((thrown: unknown) => {
          // The run was deleted during the step, which stored nothing.
          if (hasCode(thrown, FOREIGN_KEY_VIOLATION)) return runState.lastSeq;
          throw thrown;
        });
      }
    }
  }
}

interface IndexStep {
  readonly runId: string;
  readonly run: string;
  readonly month: string;
  readonly throughSeq: number;
  readonly lastSeq: number;
}

/** Waits for no sync of the disk: an index that a power failure loses is rebuilt. Returns the last indexed `seq`. */
async function indexNextRecords(client: PostgresClient, schema: string, step: IndexStep): Promise<number> {
  const rows = (
    await client.query(pageSql(schema), [step.month, step.run, String(step.throughSeq + 1), String(RECORDS_A_STEP)])
  ).map((row) => ({ seq: Number(row['seq']), vector: wordVector(row, step.runId) }));
  // If there are no rows, a gap record at the end covers the range.
  const throughSeq = rows.at(-1)?.seq ?? step.lastSeq;
  await client.query(
    `WITH added AS (
       INSERT INTO ${schema}.record_words (month, run_no, seq, at_ms, kind, words)
       SELECT records.month, records.run_no, records.seq, records.at_ms, records.kind, nullif(given.words, '${TOO_MANY_WORDS}')::tsvector
       FROM unnest(string_to_array($3, ',')::bigint[], ${listParameter(4)}) AS given (seq, words)
       JOIN ${schema}.records ON records.month = $1::int AND records.run_no = $2::bigint AND records.seq = given.seq
       ON CONFLICT DO NOTHING
     )
     INSERT INTO ${schema}.indexed_runs (run_no, through_seq)
     SELECT run_no, $5::bigint FROM ${schema}.runs WHERE run_no = $2::bigint
     ON CONFLICT (run_no) DO UPDATE SET through_seq = greatest(indexed_runs.through_seq, excluded.through_seq)
     RETURNING set_config('synchronous_commit', 'off', true)`,
    [
      step.month,
      step.run,
      rows.map(({ seq }) => seq).join(','),
      joinTexts(rows.map(({ vector }) => vector)),
      String(throughSeq),
    ],
  );
  return throughSeq;
}

/** A `tsvector` without words: an empty text would be an empty list. */
const NO_WORDS = ' ';
const TOO_MANY_WORDS = '-';

function wordVector(row: PostgresRow, runId: string): string {
  let words: readonly string[];
  try {
    words = wordsIn(recordText(parseRecord(toStoredRow(row, runId).json))).words;
  } catch (thrown) {
    // An unreadable record cannot be found; `verify` reports it.
    if (thrown instanceof CoxswainError) return NO_WORDS;
    throw thrown;
  }
  const distinctWords = [...new Set(words)];
  const bytes = distinctWords.reduce((sum, word) => sum + word.length * 3, 0);
  if (bytes > MAX_WORD_BYTES) return TOO_MANY_WORDS;
  return distinctWords.length === 0 ? NO_WORDS : distinctWords.map(quoteWord).join(' ');
}

/** SQL of a run's records from a `seq` on: about a megabyte, at least one. */
export function pageSql(schema: string): string {
  return `SELECT seq::text AS seq, json, checksum::text AS checksum FROM (
      SELECT seq, json, checksum, sum(octet_length(json)) OVER (ORDER BY seq) - octet_length(json) AS before FROM (
        SELECT seq, json, checksum FROM ${schema}.records
        WHERE month = $1::int AND run_no = $2::bigint AND seq >= $3::bigint ORDER BY seq LIMIT $4::bigint
      ) AS page
    ) AS sized WHERE before < ${BYTES_A_STEP} ORDER BY sized.seq`;
}

async function countNotIndexed(client: PostgresClient, schema: string): Promise<number> {
  const [row] = await client.query(
    `SELECT count(*)::text AS records FROM ${schema}.runs r LEFT JOIN ${schema}.indexed_runs i USING (run_no)
     JOIN ${schema}.records ON records.month = r.month AND records.run_no = r.run_no
       AND records.seq > coalesce(i.through_seq, -1)
     WHERE r.last_seq > coalesce(i.through_seq, -1)`,
  );
  return Number(row?.['records'] ?? 0);
}
