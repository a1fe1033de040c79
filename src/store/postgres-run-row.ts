import { Buffer } from 'node:buffer';

import type { EncodedRecord } from './check-batch.ts';
import type { PostgresRow, PostgresSession, PostgresValue } from './postgres-client.ts';
import { THIS_MONTH } from './postgres-schema.ts';
import { chunksOf, joinTexts, listOf, toIdText, toKindText } from './postgres-text.ts';
import type { RunSummary } from './run-summary.ts';
import { storedKind } from './search-page.ts';

/** A row of `runs`. */
export interface RunRow {
  readonly runNo: string;
  readonly month: string;
  /** Undefined for a run of which only a snapshot is saved. */
  readonly summary: RunSummary | undefined;
}

/** A record as it lies in a row. */
export interface StoredRow {
  readonly seq: number;
  readonly json: string;
}

/** The columns that `toRunRow` reads. */
export const RUN_COLUMNS = 'run_no::text AS run, month::text AS month, summary';

export function toRunRow(row: PostgresRow): RunRow {
  const summary = row['summary'];
  return {
    runNo: String(row['run']),
    month: String(row['month']),
    summary: typeof summary === 'string' ? toSummary(summary) : undefined,
  };
}

export function toSummary(json: string): RunSummary {
  // Only this driver writes the column.
  return JSON.parse(json) as RunSummary;
}

export function toStoredRow(row: PostgresRow): StoredRow {
  return { seq: Number(row['seq']), json: String(row['json']) };
}

/**
 * Finds or makes the row of a run and keeps every other writer away from it until the transaction ends.
 *
 * Call again in the same transaction when it answers undefined: another writer made the row meanwhile.
 */
export async function lockRun(session: PostgresSession, schema: string, runId: string): Promise<RunRow | undefined> {
  const id = toIdText(runId);
  const [found] = await session.query(`SELECT ${RUN_COLUMNS} FROM ${schema}.runs WHERE run_id = $1 FOR UPDATE`, [id]);
  if (found !== undefined) return toRunRow(found);
  const [made] = await session.query(
    `INSERT INTO ${schema}.runs (run_id, month, started_ms, last_seq, changed_at)
     VALUES ($1, ${THIS_MONTH}, 0, -1, now()) ON CONFLICT DO NOTHING RETURNING ${RUN_COLUMNS}`,
    [id],
  );
  return made === undefined ? undefined : toRunRow(made);
}

/** The JSON stored under some `seq`s of a run. */
export async function readStored(
  session: PostgresSession,
  schema: string,
  { run, fromSeq, throughSeq }: { readonly run: RunRow; readonly fromSeq: number; readonly throughSeq: number },
): Promise<readonly StoredRow[]> {
  const rows = await session.query(
    `SELECT seq::text AS seq, json FROM ${schema}.records
     WHERE month = $1::int AND run_no = $2::bigint AND seq BETWEEN $3::bigint AND $4::bigint ORDER BY records.seq`,
    [run.month, run.runNo, String(fromSeq), String(throughSeq)],
  );
  return rows.map(toStoredRow);
}

/** SQL that turns parameters `index` to `index + 3`, as `recordValues` gives them, into rows. */
export function recordRows(index: number): string {
  return (
    `unnest(string_to_array($${index}, ',')::bigint[], string_to_array($${index + 1}, ',')::float8[], ` +
    `${listOf(index + 2)}, ${listOf(index + 3)}) AS given (seq, at_ms, kind, json)`
  );
}

/** The values that go with `recordRows`. */
export function recordValues(records: readonly EncodedRecord[]): readonly PostgresValue[] {
  return [
    records.map(({ record }) => record.seq).join(','),
    records.map(({ record }) => record.recorded_at_unix_ms).join(','),
    joinTexts(records.map(({ record }) => toKindText(storedKind(record)))),
    joinTexts(records.map(({ json }) => json)),
  ];
}

/** Bytes of the records as JSON, as the server counts them. */
export function bytesOfRecords(records: readonly EncodedRecord[]): number {
  return records.reduce((sum, { json }) => sum + Buffer.byteLength(json), 0);
}

/** SQL of the columns that go with `recordRows`. A lone empty kind arrives as null. */
export const GIVEN_COLUMNS = "given.seq, given.at_ms, coalesce(given.kind, ''), given.json";

/** Writes records and the summary that comes of them, in as few statements as they fit. Within a transaction. */
export async function writeRecords(
  session: PostgresSession,
  schema: string,
  {
    run,
    fresh,
    summary,
  }: { readonly run: RunRow; readonly fresh: readonly EncodedRecord[]; readonly summary: RunSummary },
): Promise<void> {
  for (const records of chunksOf(fresh, ({ json }) => json.length)) {
    await session.query(
      `INSERT INTO ${schema}.records (month, run_no, seq, at_ms, kind, json)
       SELECT $1::int, $2::bigint, ${GIVEN_COLUMNS} FROM ${recordRows(3)}`,
      [run.month, run.runNo, ...recordValues(records)],
    );
  }
  await session.query(
    `UPDATE ${schema}.runs SET last_seq = $2::bigint, started_ms = $3::float8, summary = $4, bytes = bytes + $5::bigint,
       changed_at = now()
     WHERE run_no = $1::bigint`,
    [
      run.runNo,
      String(summary.lastSeq),
      String(summary.startedAtMs),
      JSON.stringify(summary),
      String(bytesOfRecords(fresh)),
    ],
  );
}

/**
 * Writes the row of a run again, as it is. What an earlier connection stored may not have reached the standbys when
 * its answer was lost; the commit of this write waits for them, and they get the log in order.
 */
export async function touchRun(session: PostgresSession, schema: string, run: RunRow): Promise<void> {
  await session.query(`UPDATE ${schema}.runs SET changed_at = now() WHERE run_no = $1::bigint`, [run.runNo]);
}
