import type { PostgresClient, PostgresRow, PostgresSession } from './postgres-client.ts';
import { toIdText } from './postgres-run-row.ts';
import { saveToken } from './postgres-transact.ts';

/**
 * Locks the run's row first, as every writer of the run does.
 *
 * @returns an attempt, which returns true if anything of the run was stored; with `isRetry`, an earlier one may have
 * deleted it
 */
export function createPostgresDeletion(
  runId: string,
): (client: PostgresClient, schema: string, isRetry: boolean) => Promise<boolean> {
  const token = globalThis.crypto.randomUUID();

  async function wasCommitted(session: PostgresSession, schema: string): Promise<boolean> {
    // This write makes the commit wait for the standbys. The write of the lost connection may not have reached them.
    const sql = `UPDATE ${schema}.transactions SET at = now() WHERE token = $1 RETURNING token`;
    return (await session.query(sql, [token])).length > 0;
  }

  async function deleteInTransaction(session: PostgresSession, schema: string, isRetry: boolean): Promise<boolean> {
    if (isRetry && (await wasCommitted(session, schema))) return true;
    const [run] = await session.query(
      `SELECT run_no::text AS run, month::text AS month FROM ${schema}.runs WHERE run_id = $1 FOR UPDATE`,
      [toIdText(runId)],
    );
    if (run === undefined) return false;
    const key = [String(run['month']), String(run['run'])];
    for (const table of ['records', 'record_words']) {
      await session.query(`DELETE FROM ${schema}.${table} WHERE month = $1::int AND run_no = $2::bigint`, key);
    }
    // The foreign keys delete its snapshot and index state.
    await session.query(`DELETE FROM ${schema}.runs WHERE run_no = $1::bigint`, [String(run['run'])]);
    await saveToken(session, schema, token);
    return true;
  }

  return (client, schema, isRetry) => client.transaction((session) => deleteInTransaction(session, schema, isRetry));
}

/** Returns the bytes of all records and snapshots as JSON. Cost: a read of each run's row. */
export async function bytesOfSchema(client: PostgresClient, schema: string): Promise<number> {
  const [row] = await client.query(
    `SELECT (SELECT coalesce(sum(bytes), 0) FROM ${schema}.runs)::text AS records,
       (SELECT coalesce(sum(octet_length(json)), 0) FROM ${schema}.snapshots)::text AS snapshots`,
  );
  return Number(row?.['records']) + Number(row?.['snapshots']);
}

/** SQL of the same for one row of `runs`, for `bytesOfRow`. */
export function bytesOfRunSql(schema: string): string {
  return `(runs.bytes + coalesce(
    (SELECT octet_length(json) FROM ${schema}.snapshots WHERE snapshots.run_no = runs.run_no), 0))::text AS bytes`;
}

export function bytesOfRow(row: PostgresRow): number {
  return Number(row['bytes']);
}
