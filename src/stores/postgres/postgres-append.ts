import { LruMap } from '../../core/base/lru-map.ts';
import type { CheckedBatch } from '../../core/store/check-batch.ts';
import { planAppend, type AppendPlan } from '../../core/store/plan-append.ts';
import type { PostgresClient, PostgresSession } from './postgres-client.ts';
import {
  bytesOfRecords,
  VALUE_COLUMNS,
  lockRun,
  readStored,
  recordRows,
  recordValues,
  summaryChecksum,
  toRunRow,
  touchRun,
  writeRecords,
  type PostgresRunRow,
  chunksOf,
  toIdText,
} from './postgres-run-row.ts';
import { THIS_MONTH } from './postgres-schema.ts';

/** Number of runs whose row is cached, so that an append needs no read. */
const RUNS_REMEMBERED = 10_000;

/** All or nothing, one call per run at a time, repeatable after a fault. `isRetry`: an earlier one may have stored it. */
export type PostgresAppend = (schema: string, batch: CheckedBatch, isRetry: boolean) => Promise<number>;

/** Cost: one statement for a new or own run, without effect if another writer extended it; else a transaction of about five. */
export function createPostgresAppend(client: PostgresClient): PostgresAppend {
  const rowCache = new LruMap<PostgresRunRow>(RUNS_REMEMBERED);
  return async (schema, batch, isRetry) => {
    const cachedRow = rowCache.get(batch.runId);
    rowCache.delete(batch.runId);
    const run =
      (isRetry ? undefined : await appendInOneStatement(client, schema, { batch, cachedRow })) ??
      (await client.transaction((session) => appendLocked(session, schema, batch)));
    rowCache.set(batch.runId, run);
    return run.summary?.lastSeq ?? -1;
  };
}

/** @returns undefined if one statement is not enough; the statement then writes nothing */
async function appendInOneStatement(
  client: PostgresClient,
  schema: string,
  { batch, cachedRow }: { readonly batch: CheckedBatch; readonly cachedRow: PostgresRunRow | undefined },
): Promise<PostgresRunRow | undefined> {
  const lastSeq = cachedRow?.summary?.lastSeq ?? -1;
  if (batch.firstSeq !== lastSeq + 1 || chunksOf(batch.records, ({ json }) => json.length).length > 1) return undefined;
  const { summary } = planAppend(batch, cachedRow?.summary, () => undefined);
  const bytes = String(bytesOfRecords(batch.records));
  const json = JSON.stringify(summary);
  const checksum = summaryChecksum(batch.runId, json);
  const runValues = [String(summary.lastSeq), String(summary.startedAtMs), json, bytes, checksum];
  const records = recordValues(batch.runId, batch.records);
  const [row] = await (cachedRow === undefined
    ? client.query(insertRunSql(schema), [toIdText(batch.runId), ...runValues, ...records])
    : client.query(updateRunSql(schema), [cachedRow.runNo, String(lastSeq), ...runValues, ...records]));
  return row === undefined ? undefined : { ...toRunRow(row, batch.runId), summary };
}

function insertRunSql(schema: string): string {
  return `WITH head AS (
      INSERT INTO ${schema}.runs (run_id, month, last_seq, started_ms, summary, bytes, checksum, changed_at)
      VALUES ($1, ${THIS_MONTH}, $2::bigint, $3::float8, $4, $5::bigint, $6::bigint, now()) ON CONFLICT DO NOTHING RETURNING run_no, month
    ), added AS (
      INSERT INTO ${schema}.records (month, run_no, seq, at_ms, kind, json, checksum)
      SELECT head.month, head.run_no, ${VALUE_COLUMNS} FROM head, ${recordRows(7)}
    ) SELECT run_no::text AS run, month::text AS month FROM head`;
}

function updateRunSql(schema: string): string {
  return `WITH head AS (
      UPDATE ${schema}.runs SET last_seq = $3::bigint, started_ms = $4::float8, summary = $5,
        bytes = bytes + $6::bigint, checksum = $7::bigint, changed_at = now()
      WHERE run_no = $1::bigint AND last_seq = $2::bigint RETURNING run_no, month
    ), added AS (
      INSERT INTO ${schema}.records (month, run_no, seq, at_ms, kind, json, checksum)
      SELECT head.month, head.run_no, ${VALUE_COLUMNS} FROM head, ${recordRows(8)}
    ) SELECT run_no::text AS run, month::text AS month FROM head`;
}

async function appendLocked(session: PostgresSession, schema: string, batch: CheckedBatch): Promise<PostgresRunRow> {
  const run = await lockRunRow(session, schema, batch.runId);
  const plan = await planLocked(session, schema, run, batch);
  if (plan.fresh.length === 0) await touchRun(session, schema, run);
  else await writeRecords(session, schema, run, plan);
  return { ...run, summary: plan.summary };
}

/** Repeats `lockRun` until the row exists. */
export async function lockRunRow(session: PostgresSession, schema: string, runId: string): Promise<PostgresRunRow> {
  for (;;) {
    const run = await lockRun(session, schema, runId);
    if (run !== undefined) return run;
  }
}

/** Finds the new records of a batch for a locked run. */
export async function planLocked(
  session: PostgresSession,
  schema: string,
  run: PostgresRunRow,
  batch: CheckedBatch,
): Promise<AppendPlan> {
  const throughSeq = Math.min(batch.lastSeq, run.summary?.lastSeq ?? -1);
  const storedRows =
    throughSeq < batch.firstSeq
      ? []
      : await readStored(session, schema, run, { runId: batch.runId, fromSeq: batch.firstSeq, throughSeq });
  const jsonBySeq = new Map(storedRows.map(({ seq, json }) => [seq, json]));
  return planAppend(batch, run.summary, (seq) => jsonBySeq.get(seq));
}
