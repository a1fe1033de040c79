import { messageOf } from '../../core/base/error.ts';
import { parseRecord } from '../../core/records/decode-record.ts';
import type { PostgresClient } from './postgres-client.ts';
import { isIntactRow, RUN_COLUMNS, toRunRow, toStoredRow, type PostgresRunRow } from './postgres-run-row.ts';
import { pageSql } from './postgres-search.ts';
import { fromIdText } from './postgres-text.ts';
import { createRunCheck, orderProblem } from '../../core/store/run-check.ts';
import { damageText } from '../../core/store/store-error.ts';
import type { StoreProblem } from '../../core/store/trajectory-store.ts';

const RUNS_A_PAGE = 500;
const RECORDS_A_PAGE = 500;

/**
 * Reads every run from its first record and compares it with the run's row. Records appended meanwhile are ignored. Page checksums are
 * the server's own (`data_checksums`); a wrong one is an error of the statement that reads it.
 */
export async function* verifyPostgres(
  client: PostgresClient,
  schema: string,
): AsyncGenerator<StoreProblem, void, void> {
  let afterNo = '0';
  for (;;) {
    const rows = await client.query(
      `SELECT ${RUN_COLUMNS}, run_id AS id, last_seq::text AS last, snapshots.covers_seq::text AS covers,
         snapshots.json AS snapshot,
         snapshots.checksum::text AS snapshot_checksum
       FROM ${schema}.runs LEFT JOIN ${schema}.snapshots USING (run_no)
       WHERE run_no > $1::bigint ORDER BY runs.run_no LIMIT ${RUNS_A_PAGE}`,
      [afterNo],
    );
    for (const row of rows) {
      const runId = fromIdText(String(row['id']));
      const lastSeq = Number(row['last']);
      const rowKey = { runNo: String(row['run']), month: String(row['month']) };
      afterNo = rowKey.runNo;
      let run: PostgresRunRow = { ...rowKey, summary: undefined };
      let isSummaryIntact = true;
      try {
        run = toRunRow(row, runId);
      } catch (thrown) {
        isSummaryIntact = false;
        yield { runId, place: `${schema}.runs, run_no ${rowKey.runNo}`, problem: damageText(thrown) };
      }
      for await (const problem of verifyRun(client, schema, { run, runId, lastSeq, isSummaryIntact })) {
        // The run may have been deleted meanwhile.
        if (!(await runExists(client, schema, run.runNo))) break;
        yield problem;
      }
      const snapshot = row['snapshot'];
      if (typeof snapshot === 'string') {
        const coversSeq = Number(row['covers']);
        const checksumRow = { checksum: row['snapshot_checksum'] ?? null };
        const isIntact = isIntactRow('snapshots', checksumRow, { runId, place: coversSeq, text: snapshot });
        const problem = isIntact
          ? snapshotProblem(snapshot, coversSeq, lastSeq)
          : 'its snapshot: its checksum is wrong';
        if (problem !== undefined) yield { runId, place: `${schema}.snapshots, run_no ${run.runNo}`, problem };
      }
    }
    if (rows.length < RUNS_A_PAGE) break;
  }
  yield* findOrphans(client, schema);
}

async function runExists(client: PostgresClient, schema: string, runNo: string): Promise<boolean> {
  return (await client.query(`SELECT 1 AS there FROM ${schema}.runs WHERE run_no = $1::bigint`, [runNo])).length > 0;
}

interface VerifiedRun {
  readonly run: PostgresRunRow;
  readonly runId: string;
  readonly lastSeq: number;
  /** False if the summary of the run is damaged, which is already reported. */
  readonly isSummaryIntact: boolean;
}

async function* verifyRun(
  client: PostgresClient,
  schema: string,
  { run, runId, lastSeq, isSummaryIntact }: VerifiedRun,
): AsyncGenerator<StoreProblem, void, void> {
  const check = createRunCheck(runId);
  const place = `${schema}.records, run_no ${run.runNo}`;
  for (let fromSeq = 0; fromSeq <= lastSeq;) {
    const rows = await client.query(pageSql(schema), [run.month, run.runNo, String(fromSeq), String(RECORDS_A_PAGE)]);
    if (rows.length === 0) break;
    for (const row of rows) {
      const seq = Number(row['seq']);
      fromSeq = seq + 1;
      if (seq > lastSeq) break;
      try {
        const record = parseRecord(toStoredRow(row, runId).json);
        if (record.seq !== seq) throw new Error(`the row contains seq ${record.seq}`);
        yield* check.checkRecord(record, place);
      } catch (thrown) {
        yield* check.reportDamage(seq, { place, problem: damageText(thrown) });
      }
    }
  }
  const missingRecords = check.nextSeq <= lastSeq ? orderProblem(check.nextSeq, lastSeq + 1) : undefined;
  if (missingRecords !== undefined) yield { runId, place, ...missingRecords };
  // Compare the summary only if nothing was appended meanwhile.
  else if (run.summary?.lastSeq === lastSeq)
    yield* check.checkSummary(run.summary, `${schema}.runs, run_no ${run.runNo}`);
  if (isSummaryIntact && (run.summary?.lastSeq ?? -1) !== lastSeq) {
    yield { runId, place: `${schema}.runs, run_no ${run.runNo}`, problem: 'last_seq differs from the summary' };
  }
}

function snapshotProblem(json: string, coversSeq: number, lastSeq: number): string | undefined {
  if (coversSeq > lastSeq) return `the snapshot covers seq ${coversSeq}, the run ends at ${lastSeq}`;
  try {
    JSON.parse(json);
    return undefined;
  } catch (thrown) {
    return `the snapshot is not JSON: ${messageOf(thrown)}`;
  }
}

async function* findOrphans(client: PostgresClient, schema: string): AsyncGenerator<StoreProblem, void, void> {
  const rows = await client.query(
    `SELECT DISTINCT records.run_no::text AS run FROM ${schema}.records WHERE NOT EXISTS (
       SELECT FROM ${schema}.runs
       WHERE runs.run_no = records.run_no AND runs.month = records.month AND runs.last_seq >= records.seq)
     LIMIT 1000`,
  );
  for (const row of rows) {
    yield {
      place: `${schema}.records, run_no ${String(row['run'])}`,
      problem: 'records after the end of their run, or without a run',
    };
  }
}
