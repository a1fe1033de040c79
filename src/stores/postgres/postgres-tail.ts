import { LruMap } from '../../core/base/lru-map.ts';
import type { PostgresClient } from './postgres-client.ts';
import {
  fromIdText,
  toIdText,
  isIntactRow,
  RUN_COLUMNS,
  toRunRow,
  toStoredRow,
  type PostgresRunRow,
} from './postgres-run-row.ts';
import { messageOf } from '../../core/base/error.ts';
import { parseRecord } from '../../core/records/decode-record.ts';
import { pageSql } from './postgres-search.ts';
import { createRunCheck, orderProblem } from '../../core/store/run-check.ts';
import { damageText } from '../../core/store/store-error.ts';
import type { StoreProblem } from '../../core/store/trajectory-store.ts';
import { bytesOfRunSql } from './postgres-transact.ts';

/** Time in milliseconds during which announcements are collected before one statement sends them. */
const ANNOUNCE_AFTER_MS = 20;

/** Announcements are lost if the writer is killed or a connection breaks. */
const POLL_EVERY_MS = 2000;

/** A poll finds runs that changed within this time; older changes were announced or polled before. */
const POLL_BACK = "interval '30 seconds'";

/** Number of runs whose last known end a tail remembers. */
const RUNS_REMEMBERED = 10_000;

/** A run to which records were added. */
export interface RunEnd {
  readonly runId: string;
  readonly lastSeq: number;
}

export interface PostgresAnnouncer {
  announce(end: RunEnd): void;
  flush(): Promise<void>;
}

export function tailChannelOf(schema: string): string {
  return `${schema.replaceAll('"', '')}_runs`;
}

/** Separately and collected, because NOTIFY serialises the commits of the whole database. Waits for no disk or standby. */
export function createPostgresAnnouncer(client: PostgresClient, channel: string): PostgresAnnouncer {
  const pendingEnds = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> = Promise.resolve();

  async function send(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (pendingEnds.size === 0) return;
    const ends = JSON.stringify([...pendingEnds]);
    pendingEnds.clear();
    try {
      await client.query(
        `SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, value::text)
         FROM json_array_elements($2::text::json) AS value`,
        [channel, ends],
      );
    } catch {
      // A tail finds the run at its next poll.
    }
  }

  return {
    announce({ runId, lastSeq }): void {
      pendingEnds.set(runId, lastSeq);
      timer ??= setTimeout(() => {
        sending = sending.then(send);
      }, ANNOUNCE_AFTER_MS).unref();
    },
    flush(): Promise<void> {
      sending = sending.then(send);
      return sending;
    },
  };
}

/** Yields the end of a run whenever it grows. A slow consumer receives only the latest end. */
export async function* tailPostgres(
  client: PostgresClient,
  schema: string,
  runId: string | undefined,
  signal: AbortSignal,
  onReady: (() => void) | undefined,
): AsyncGenerator<RunEnd, void, void> {
  const knownEnds = new LruMap<number>(RUNS_REMEMBERED);
  const pendingEnds = new Map<string, number>();
  let mustPoll = true;
  let wake = (): void => undefined;
  const onAbort = (): void => wake();

  const acceptEnd = (end: RunEnd): void => {
    if (runId !== undefined && end.runId !== runId) return;
    if (end.lastSeq <= (knownEnds.get(end.runId) ?? -1)) return;
    knownEnds.set(end.runId, end.lastSeq);
    pendingEnds.set(end.runId, end.lastSeq);
    wake();
  };
  const stop = await client.listen(tailChannelOf(schema), {
    onMessage: (payload) => {
      const end = readAnnouncement(payload);
      if (end !== undefined) acceptEnd(end);
    },
    onListening: () => {
      mustPoll = true;
      wake();
    },
  });
  const timer = setInterval(() => {
    mustPoll = true;
    wake();
  }, POLL_EVERY_MS);
  signal.addEventListener('abort', onAbort);
  try {
    // For all runs, earlier growth is not reported; for a single run, its current end is.
    for (const end of await queryEnds(client, schema, runId)) {
      if (runId === undefined) knownEnds.set(end.runId, Math.max(end.lastSeq, knownEnds.get(end.runId) ?? -1));
      else acceptEnd(end);
    }
    onReady?.();
    while (!signal.aborted) {
      const [pendingEnd] = pendingEnds;
      if (pendingEnd !== undefined) {
        pendingEnds.delete(pendingEnd[0]);
        yield { runId: pendingEnd[0], lastSeq: pendingEnd[1] };
      } else if (mustPoll) {
        mustPoll = false;
        // A failed poll is ignored, because the next poll repeats it.
        for (const end of await queryEnds(client, schema, runId).catch(() => [])) acceptEnd(end);
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
          // The state may have changed since the loop checked it.
          if (signal.aborted || mustPoll || pendingEnds.size > 0) resolve();
        });
      }
    }
  } finally {
    clearInterval(timer);
    signal.removeEventListener('abort', onAbort);
    await stop();
  }
}

function readAnnouncement(payload: string): RunEnd | undefined {
  let value: unknown;
  try {
    value = JSON.parse(payload);
  } catch {
    return undefined;
  }
  if (!Array.isArray(value)) return undefined;
  const [runId, lastSeq]: readonly unknown[] = value;
  return typeof runId === 'string' && typeof lastSeq === 'number' ? { runId, lastSeq } : undefined;
}

async function queryEnds(client: PostgresClient, schema: string, runId?: string): Promise<readonly RunEnd[]> {
  const columns = 'SELECT run_id AS id, last_seq::text AS last FROM';
  const rows = await (runId === undefined
    ? client.query(`${columns} ${schema}.runs WHERE last_seq >= 0 AND changed_at > now() - ${POLL_BACK}`)
    : client.query(`${columns} ${schema}.runs WHERE last_seq >= 0 AND run_id = $1`, [toIdText(runId)]));
  return rows.map((row) => ({ runId: fromIdText(String(row['id'])), lastSeq: Number(row['last']) }));
}

const RUNS_A_PAGE = 500;
const RECORDS_A_PAGE = 500;

/** Records appended meanwhile are ignored. Page checksums are the server's own (`data_checksums`). */
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

/**
 * Parameters: the negative start and the id of the last run of the previous page, and the number of rows. Two ranges of
 * the index `runs_newest_first`: for one comparison of (start, id), the planner expects no row if many runs have the
 * same start, and reads the whole table.
 */
export function listSql(schema: string, withBytes: boolean): string {
  const rangeOf = (range: string): string =>
    `(SELECT run_no, run_id, started_ms, summary, checksum, bytes FROM ${schema}.runs WHERE ${range} AND last_seq >= 0
      ORDER BY (-started_ms), left(run_id, 200), run_id LIMIT $3::bigint)`;
  const sameStart = rangeOf('(-started_ms) = $1::float8 AND (left(run_id, 200), run_id) > (left($2, 200), $2)');
  const earlierStarts = rangeOf('(-started_ms) > $1::float8');
  return `SELECT run_id AS id, started_ms::text AS started, summary, checksum::text AS checksum${withBytes ? `, ${bytesOfRunSql(schema)}` : ''}
    FROM (${sameStart} UNION ALL ${earlierStarts}) AS runs
    ORDER BY (-started_ms), run_id LIMIT $3::bigint`;
}
