import { Buffer } from 'node:buffer';
import { messageOf } from '../../core/base/error.ts';
import type { EncodedRecord } from '../../core/store/check-batch.ts';
import type { AppendPlan } from '../../core/store/plan-append.ts';
import type { PostgresRow, PostgresSession, PostgresValue } from './postgres-client.ts';
import { THIS_MONTH } from './postgres-schema.ts';
import { rowChecksums, type CheckedTable } from '../../core/store/run-check.ts';
import { damagedSummary, type RunSummary } from '../../core/facts/run-summary.ts';
import { storedKind } from '../../core/store/search-page.ts';
import { storeDamaged } from '../../core/store/store-error.ts';

export interface PostgresRunRow {
  readonly runNo: string;
  readonly month: string;
  readonly summary: RunSummary | undefined;
}

/** A stored record with a correct checksum. */
interface StoredRow {
  readonly seq: number;
  readonly json: string;
}

export const RUN_COLUMNS = 'run_no::text AS run, month::text AS month, summary, runs.checksum::text AS checksum';

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
  if (!isIntactRow('runs', row, { runId, place: 0, text: json })) {
    throw storeDamaged({ runId }, 'its summary: its checksum is wrong');
  }
  try {
    // The checksum is correct, so this driver wrote the text.
    const summary = JSON.parse(json) as RunSummary;
    if (summary.runId === runId) return summary;
  } catch {
    // The text is not JSON.
  }
  throw storeDamaged({ runId }, 'its summary is invalid or of another run');
}

export function toListedSummary(row: PostgresRow, runId: string): RunSummary {
  try {
    return toSummary(row, runId);
  } catch (thrown) {
    return damagedSummary(runId, messageOf(thrown), Number(row['started']));
  }
}

export function toStoredRow(row: PostgresRow, runId: string): StoredRow {
  const seq = Number(row['seq']);
  const json = String(row['json']);
  if (isIntactRow('records', row, { runId, place: seq, text: json })) return { seq, json };
  throw storeDamaged({ runId, seq }, 'its checksum is wrong');
}

export function isIntactRow(
  table: CheckedTable,
  { checksum }: PostgresRow,
  { runId, place, text }: { readonly runId: string; readonly place: number; readonly text: string },
): boolean {
  return typeof checksum === 'string' && Number(checksum) === rowChecksums(table, runId)(place, text);
}

export function summaryChecksum(runId: string, json: string): string {
  return String(rowChecksums('runs', runId)(0, json));
}

/** The row is locked until the transaction ends. Undefined if another writer created it meanwhile: call it again. */
export async function lockRun(
  session: PostgresSession,
  schema: string,
  runId: string,
): Promise<PostgresRunRow | undefined> {
  const id = toIdText(runId);
  const [existing] = await session.query(`SELECT ${RUN_COLUMNS} FROM ${schema}.runs WHERE run_id = $1 FOR UPDATE`, [
    id,
  ]);
  if (existing !== undefined) return toRunRow(existing, runId);
  const [created] = await session.query(
    `INSERT INTO ${schema}.runs (run_id, month, started_ms, last_seq, changed_at)
     VALUES ($1, ${THIS_MONTH}, 0, -1, now()) ON CONFLICT DO NOTHING RETURNING ${RUN_COLUMNS}`,
    [id],
  );
  return created === undefined ? undefined : toRunRow(created, runId);
}

export async function readStored(
  session: PostgresSession,
  schema: string,
  run: PostgresRunRow,
  range: { readonly runId: string; readonly fromSeq: number; readonly throughSeq: number },
): Promise<readonly StoredRow[]> {
  const rows = await session.query(
    `SELECT seq::text AS seq, json, checksum::text AS checksum FROM ${schema}.records
     WHERE month = $1::int AND run_no = $2::bigint AND seq BETWEEN $3::bigint AND $4::bigint ORDER BY records.seq`,
    [run.month, run.runNo, String(range.fromSeq), String(range.throughSeq)],
  );
  return rows.map((row) => toStoredRow(row, range.runId));
}

/** SQL that converts parameters `index` to `index + 4` of `recordValues` to rows. */
export function recordRows(index: number): string {
  return (
    `unnest(string_to_array($${index}, ',')::bigint[], string_to_array($${index + 1}, ',')::float8[], ` +
    `${listParameter(index + 2)}, ${listParameter(index + 3)}, string_to_array($${index + 4}, ',')::bigint[]) ` +
    'AS given (seq, at_ms, kind, json, checksum)'
  );
}

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

/** SQL of the columns of `recordRows`. A single empty kind arrives as null. */
export const VALUE_COLUMNS = "given.seq, given.at_ms, coalesce(given.kind, ''), given.json, given.checksum";

export async function writeRecords(
  session: PostgresSession,
  schema: string,
  run: PostgresRunRow,
  { fresh, summary }: AppendPlan,
): Promise<void> {
  for (const records of chunksOf(fresh, ({ json }) => json.length)) {
    await session.query(
      `INSERT INTO ${schema}.records (month, run_no, seq, at_ms, kind, json, checksum)
       SELECT $1::int, $2::bigint, ${VALUE_COLUMNS} FROM ${recordRows(3)}`,
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

/** Standbys may lack writes of a lost connection. They receive the log in order, and this commit waits for them. */
export async function touchRun(session: PostgresSession, schema: string, run: PostgresRunRow): Promise<void> {
  await session.query(`UPDATE ${schema}.runs SET changed_at = now() WHERE run_no = $1::bigint`, [run.runNo]);
}

/** Separates the items of a list sent as one text; JSON never contains it. */
const SEPARATOR = '\u001e';

/** Maximum of UTF-16 units of JSON per statement: a PostgreSQL parameter is limited to a gigabyte. */
const CHARS_A_STATEMENT = 16 * 1024 * 1024;

/** PostgreSQL has no U+0000: stored as U+0001 U+0001, and U+0001 as U+0001 U+0002, in code point order. */
export function toIdText(runId: string): string {
  return runId.replace(/[\0\u0001]/g, (unit) => (unit === '\0' ? '\u0001\u0001' : '\u0001\u0002'));
}

export function fromIdText(text: string): string {
  return text.replace(/\u0001([\u0001\u0002])/g, (_, unit) => (unit === '\u0001' ? '\0' : '\u0001'));
}

/** Kinds that differ only in control characters or lone surrogates are equal here, so hits are compared again. */
export function toKindText(kind: string): string {
  return kind.toWellFormed().replace(/[\0-\u001f]/g, '\ufffd');
}

export function joinTexts(texts: readonly string[]): string {
  return texts.join(SEPARATOR);
}

/** SQL for the list that `joinTexts` sent as parameter `index`; an empty text stands for an empty list. */
export function listParameter(index: number): string {
  return `string_to_array($${index}, chr(30))`;
}

/** Splits items into lists of at least one item that each fit one statement. */
export function chunksOf<T>(items: readonly T[], charsOf: (item: T) => number): readonly (readonly T[])[] {
  const chunks: T[][] = [];
  let chars = Number.POSITIVE_INFINITY;
  for (const item of items) {
    if (chars + charsOf(item) > CHARS_A_STATEMENT) {
      chunks.push([]);
      chars = 0;
    }
    chunks.at(-1)?.push(item);
    chars += charsOf(item);
  }
  return chunks;
}
