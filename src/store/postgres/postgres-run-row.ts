import { Buffer } from 'node:buffer';

import { messageOf } from '../../base/error.ts';
import type { EncodedRecord } from '../check-batch.ts';
import type { PostgresRow, PostgresSession, PostgresValue } from './postgres-client.ts';
import { THIS_MONTH } from './postgres-schema.ts';
import { chunksOf, joinTexts, listParameter, toIdText, toKindText } from './postgres-text.ts';
import { rowChecksums, type CheckedTable } from '../row-checksum.ts';
import { damagedSummary, type RunSummary } from '../run-summary.ts';
import { storedKind } from '../search-page.ts';
import { storeDamaged } from '../store-error.ts';

/** A row of `runs`. */
export interface PostgresRunRow {
  readonly runNo: string;
  readonly month: string;
  /** Undefined for a run of which only a snapshot is saved. */
  readonly summary: RunSummary | undefined;
}

/** A record whose checksum is right, as it lies in a row. */
export interface StoredRow {
  readonly seq: number;
  readonly json: string;
}

/** The columns that `toRunRow` reads. */
export const RUN_COLUMNS = 'run_no::text AS run, month::text AS month, summary, runs.checksum::text AS checksum';

/** @throws CoxswainError `store-damaged` for a summary that is not what was written */
export function toRunRow(row: PostgresRow, runId: string): PostgresRunRow {
  const summary = row['summary'];
  return {
    runNo: String(row['run']),
    month: String(row['month']),
    summary: typeof summary === 'string' ? toSummary(row, runId) : undefined,
  };
}

function toSummary(row: PostgresRow, runId: string): RunSummary {
  const json = String(row['summary']);
  if (!isAsWritten('runs', row, { runId, place: 0, text: json })) {
    throw storeDamaged({ runId }, 'its summary is not as it was written (its checksum does not fit)');
  }
  try {
    // Its checksum is right, so this driver wrote it.
    const summary = JSON.parse(json) as RunSummary;
    if (summary.runId === runId) return summary;
  } catch {
    // Not JSON.
  }
  throw storeDamaged({ runId }, 'its summary is that of another run, or none');
}

/** The summary; of a damaged one a stand-in that counts nothing and names the `problem`. */
export function toListedSummary(row: PostgresRow, runId: string): RunSummary {
  try {
    return toSummary(row, runId);
  } catch (thrown) {
    return damagedSummary(runId, messageOf(thrown), Number(row['started']));
  }
}

/** @throws CoxswainError `store-damaged` */
export function toStoredRow(row: PostgresRow, runId: string): StoredRow {
  const seq = Number(row['seq']);
  const json = String(row['json']);
  if (isAsWritten('records', row, { runId, place: seq, text: json })) return { seq, json };
  throw storeDamaged({ runId, seq }, 'it is not as it was written (its checksum does not fit)');
}

/** Whether the checksum of a row fits. */
export function isAsWritten(
  table: CheckedTable,
  { checksum }: PostgresRow,
  { runId, place, text }: { readonly runId: string; readonly place: number; readonly text: string },
): boolean {
  return typeof checksum === 'string' && Number(checksum) === rowChecksums(table, runId)(place, text);
}

/** The checksum of a summary's JSON, as a parameter. */
export function summaryChecksum(runId: string, json: string): string {
  return String(rowChecksums('runs', runId)(0, json));
}

/**
 * Finds or makes the row of a run and keeps every other writer away from it until the transaction ends.
 *
 * Call again in the same transaction when it answers undefined: another writer made the row meanwhile.
 */
export async function lockRun(
  session: PostgresSession,
  schema: string,
  runId: string,
): Promise<PostgresRunRow | undefined> {
  const id = toIdText(runId);
  const [found] = await session.query(`SELECT ${RUN_COLUMNS} FROM ${schema}.runs WHERE run_id = $1 FOR UPDATE`, [id]);
  if (found !== undefined) return toRunRow(found, runId);
  const [made] = await session.query(
    `INSERT INTO ${schema}.runs (run_id, month, started_ms, last_seq, changed_at)
     VALUES ($1, ${THIS_MONTH}, 0, -1, now()) ON CONFLICT DO NOTHING RETURNING ${RUN_COLUMNS}`,
    [id],
  );
  return made === undefined ? undefined : toRunRow(made, runId);
}

/** The JSON stored under some `seq`s of a run. */
export async function readStored(
  session: PostgresSession,
  schema: string,
  {
    run,
    runId,
    fromSeq,
    throughSeq,
  }: { readonly run: PostgresRunRow; readonly runId: string; readonly fromSeq: number; readonly throughSeq: number },
): Promise<readonly StoredRow[]> {
  const rows = await session.query(
    `SELECT seq::text AS seq, json, checksum::text AS checksum FROM ${schema}.records
     WHERE month = $1::int AND run_no = $2::bigint AND seq BETWEEN $3::bigint AND $4::bigint ORDER BY records.seq`,
    [run.month, run.runNo, String(fromSeq), String(throughSeq)],
  );
  return rows.map((row) => toStoredRow(row, runId));
}

/** SQL that turns parameters `index` to `index + 4`, as `recordValues` gives them, into rows. */
export function recordRows(index: number): string {
  return (
    `unnest(string_to_array($${index}, ',')::bigint[], string_to_array($${index + 1}, ',')::float8[], ` +
    `${listParameter(index + 2)}, ${listParameter(index + 3)}, string_to_array($${index + 4}, ',')::bigint[]) ` +
    'AS given (seq, at_ms, kind, json, checksum)'
  );
}

/** The values that go with `recordRows`. */
export function recordValues(runId: string, records: readonly EncodedRecord[]): readonly PostgresValue[] {
  const checksum = rowChecksums('records', runId);
  return [
    records.map(({ record }) => record.seq).join(','),
    records.map(({ record }) => record.recorded_at_unix_ms).join(','),
    joinTexts(records.map(({ record }) => toKindText(storedKind(record)))),
    joinTexts(records.map(({ json }) => json)),
    records.map(({ seq, json }) => checksum(seq, json)).join(','),
  ];
}

/** Bytes of the records as JSON, as the server counts them. */
export function bytesOfRecords(records: readonly EncodedRecord[]): number {
  return records.reduce((sum, { json }) => sum + Buffer.byteLength(json), 0);
}

/** SQL of the columns that go with `recordRows`. A lone empty kind arrives as null. */
export const GIVEN_COLUMNS = "given.seq, given.at_ms, coalesce(given.kind, ''), given.json, given.checksum";

/** Writes records and the summary that comes of them, in as few statements as they fit. Within a transaction. */
export async function writeRecords(
  session: PostgresSession,
  schema: string,
  {
    run,
    fresh,
    summary,
  }: { readonly run: PostgresRunRow; readonly fresh: readonly EncodedRecord[]; readonly summary: RunSummary },
): Promise<void> {
  for (const records of chunksOf(fresh, ({ json }) => json.length)) {
    await session.query(
      `INSERT INTO ${schema}.records (month, run_no, seq, at_ms, kind, json, checksum)
       SELECT $1::int, $2::bigint, ${GIVEN_COLUMNS} FROM ${recordRows(3)}`,
      [run.month, run.runNo, ...recordValues(summary.runId, records)],
    );
  }
  const json = JSON.stringify(summary);
  await session.query(
    `UPDATE ${schema}.runs SET last_seq = $2::bigint, started_ms = $3::float8, summary = $4, bytes = bytes + $5::bigint,
       checksum = $6::bigint, changed_at = now()
     WHERE run_no = $1::bigint`,
    [
      run.runNo,
      String(summary.lastSeq),
      String(summary.startedAtMs),
      json,
      String(bytesOfRecords(fresh)),
      summaryChecksum(summary.runId, json),
    ],
  );
}

/**
 * Writes the row of a run again, as it is. What an earlier connection stored may not have reached the standbys when
 * its answer was lost; the commit of this write waits for them, and they get the log in order.
 */
export async function touchRun(session: PostgresSession, schema: string, run: PostgresRunRow): Promise<void> {
  await session.query(`UPDATE ${schema}.runs SET changed_at = now() WHERE run_no = $1::bigint`, [run.runNo]);
}
