import { parseRecord } from '../../core/records/decode-record.ts';
import { checkChange } from '../../core/store/check-batch.ts';
import { lockRunRow, planLocked } from './postgres-append.ts';
import type { PostgresClient, PostgresSession, PostgresRow } from './postgres-client.ts';
import {
  isIntactRow,
  readStored,
  touchRun,
  writeRecords,
  type PostgresRunRow,
  joinTexts,
  listParameter,
  toIdText,
} from './postgres-run-row.ts';
import { rowChecksums } from '../../core/store/run-check.ts';
import { createStoredRun, type SavedSnapshot } from '../../core/store/stored-run.ts';
import type { RunChange, StoredRun } from '../../core/store/trajectory-store.ts';

export interface TransactionResult<Result> {
  readonly result: Result;
  readonly lastSeq: number;
}

/** Tokens older than this are deleted. No call is retried for that long. */
const TOKEN_LIFE = "interval '1 day'";

/** On average, one of this many transactions deletes old tokens. */
const CLEAN_ONE_OF = 256;

/** An attempt per call, repeatable: a commit is not stored again. Cost: about six statements, eight if the fold calls `missed()`. */
export function createPostgresTransaction<Result>(
  runId: string,
  fold: (view: StoredRun) => RunChange<Result>,
): (client: PostgresClient, schema: string) => Promise<TransactionResult<Result>> {
  /** Results of earlier attempts, by the token that a committed one left in the database. */
  const results = new Map<string, TransactionResult<Result>>();

  async function attempt(session: PostgresSession, schema: string): Promise<TransactionResult<Result>> {
    const run = await lockRunRow(session, schema, runId);
    const committedResult = await findCommitted(session, schema, results);
    if (committedResult !== undefined) {
      await touchRun(session, schema, run);
      return committedResult;
    }
    const stored = { summary: run.summary, snapshot: await readSnapshot(session, schema, run, runId) };
    const throughSeq = run.summary?.lastSeq ?? -1;
    const called = await callFold(stored, fold, (fromSeq) =>
      readStored(session, schema, run, { runId, fromSeq, throughSeq }),
    );
    const change = checkChange(runId, called.change);
    const token = globalThis.crypto.randomUUID();
    let lastSeq = run.summary?.lastSeq ?? -1;
    if (change.batch !== undefined) {
      const plan = await planLocked(session, schema, run, change.batch);
      if (plan.fresh.length > 0) await writeRecords(session, schema, run, plan);
      lastSeq = plan.summary.lastSeq;
    }
    if (change.snapshotJson !== undefined) {
      await session.query(
        `INSERT INTO ${schema}.snapshots (run_no, covers_seq, json, checksum) VALUES ($1::bigint, $2::bigint, $3, $4::bigint)
         ON CONFLICT (run_no) DO UPDATE SET covers_seq = excluded.covers_seq, json = excluded.json,
           checksum = excluded.checksum`,
        [
          run.runNo,
          String(lastSeq),
          change.snapshotJson,
          String(rowChecksums('snapshots', runId)(lastSeq, change.snapshotJson)),
        ],
      );
    } else if (change.batch === undefined && run.summary === undefined && stored.snapshot === undefined) {
      // The row was created only for the lock, so it is deleted.
      await session.query(`DELETE FROM ${schema}.runs WHERE run_no = $1::bigint`, [run.runNo]);
    }
    await saveToken(session, schema, token);
    const attemptResult = { result: change.result, lastSeq };
    results.set(token, attemptResult);
    return attemptResult;
  }

  return (client, schema) => client.transaction((session) => attempt(session, schema));
}

/** Stores a token by which a later attempt recognises that this one was committed. */
async function saveToken(session: PostgresSession, schema: string, token: string): Promise<void> {
  await session.query(`INSERT INTO ${schema}.transactions (token, at) VALUES ($1, now())`, [token]);
  if (Math.random() < 1 / CLEAN_ONE_OF) {
    await session.query(`DELETE FROM ${schema}.transactions WHERE at < now() - ${TOKEN_LIFE}`);
  }
}

async function findCommitted<Result>(
  session: PostgresSession,
  schema: string,
  results: ReadonlyMap<string, Result>,
): Promise<Result | undefined> {
  if (results.size === 0) return undefined;
  const [row] = await session.query(
    `SELECT token FROM ${schema}.transactions WHERE token = ANY (${listParameter(1)})`,
    [joinTexts([...results.keys()])],
  );
  return row === undefined ? undefined : results.get(String(row['token']));
}

async function readSnapshot(
  session: PostgresSession,
  schema: string,
  run: PostgresRunRow,
  runId: string,
): Promise<SavedSnapshot | undefined> {
  const [row] = await session.query(
    `SELECT covers_seq::text AS seq, json, checksum::text AS checksum FROM ${schema}.snapshots WHERE run_no = $1::bigint`,
    [run.runNo],
  );
  if (row === undefined) return undefined;
  const savedSnapshot = { coversSeq: Number(row['seq']), json: String(row['json']) };
  const isIntact = isIntactRow('snapshots', row, { runId, place: savedSnapshot.coversSeq, text: savedSnapshot.json });
  // A damaged snapshot is null, so that the caller folds the records instead.
  return isIntact ? savedSnapshot : { coversSeq: run.summary?.lastSeq ?? -1, json: 'null' };
}

/** A fold that calls `missed()` is interrupted and called again after reading. The object hides a returned promise. */
async function callFold<Result>(
  stored: Parameters<typeof createStoredRun>[0],
  fold: (view: StoredRun) => RunChange<Result>,
  readFrom: (seq: number) => ReturnType<typeof readStored>,
): Promise<{ readonly change: RunChange<Result> }> {
  const isCovered = (stored.summary?.lastSeq ?? -1) <= (stored.snapshot?.coversSeq ?? -1);
  let missedAfter: number | undefined;
  const interrupt = (afterSeq: number): never => {
    missedAfter = afterSeq;
    throw new Error('the records are read, then the fold is called again');
  };
  try {
    const change = fold(createStoredRun(stored, isCovered ? () => [] : interrupt));
    // If the fold caught the error, its result is invalid.
    if (missedAfter === undefined) return { change };
  } catch (thrown) {
    if (missedAfter === undefined) throw new FoldError(thrown);
  }
  const rows = await readFrom(missedAfter + 1);
  const missed = rows.map(({ json }) => parseRecord(json));
  try {
    return { change: fold(createStoredRun(stored, () => missed)) };
  } catch (thrown) {
    throw new FoldError(thrown);
  }
}

/** Wraps an error that a fold threw, to distinguish it from faults of the database. */
export class FoldError extends Error {
  readonly thrown: unknown;

  constructor(thrown: unknown) {
    super('a fold threw');
    this.thrown = thrown;
  }
}

/** Locks the run's row first, as every writer. True if anything was stored, or an earlier attempt (`isRetry`) may have deleted it. */
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
