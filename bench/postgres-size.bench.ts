/**
 * Size of a team's store: a million records of about 1 KB in runs of 50, with monthly partitions, on a real PostgreSQL (`fsync` on).
 * Prints the bytes of JSON, tables, indices and log, then the time of the first and a middle page of the list of runs, alternating with
 * SQLite over as many runs. Run: `node bench/postgres-size.bench.ts [RECORDS]`, default 1,000,000.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import postgres from 'postgres';

import type { TrajectoryPayload, TrajectoryRecord } from '../src/records/trajectory-record.ts';
import { postgresStore } from '../src/store/postgres/postgres-store.ts';
import { sqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import type { TrajectoryStore } from '../src/store/trajectory-store.ts';
import { scriptRecord } from '../src/testing/record-script.ts';
import { startPostgres } from '../test/support/postgres-server.ts';

const RECORDS = Number(process.argv[2] ?? 1_000_000);
const RECORDS_A_RUN = 50;
const RUNS = RECORDS / RECORDS_A_RUN;
const WRITERS = 4;
const PAGE = 50;
const ROUNDS = 60;
const LINES = 'line of an ordinary result that goes on for a while;\n'.repeat(32);

function payloadOf(runId: string, seq: number): TrajectoryPayload {
  if (seq === 0) return { kind: 'run_started', identity: { run_id: runId, depth: 0 }, task: 'make the tests pass' };
  if (seq === RECORDS_A_RUN - 1) return { kind: 'run_ended', outcome: 'ended', new_messages: [] };
  const call = { tool_call_id: `call-${seq >> 1}`, tool_name: 'read' };
  if (seq % 2 === 1) return { kind: 'tool_started', ...call, args: { path: `src/part-${seq}.ts` } };
  return { kind: 'tool_ended', ...call, result: `${runId} ${seq} ${LINES}`, is_error: false };
}

const idOf = (run: number): string => `run-${String(run).padStart(8, '0')}`;

function batchOf(run: number, records: number): readonly TrajectoryRecord[] {
  const runId = idOf(run);
  return Array.from({ length: records }, (_none, seq) => scriptRecord({ runId, seq, payload: payloadOf(runId, seq) }));
}

async function fill(store: TrajectoryStore, records: number): Promise<number> {
  const began = performance.now();
  let next = 0;
  const write = async (): Promise<void> => {
    for (let run = (next += 1); run <= RUNS; run = next += 1) await store.append(batchOf(run, records));
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
  return (performance.now() - began) / 1_000;
}

const median = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0;
const mb = (bytes: unknown): string => `${(Number(bytes) / 1e6).toFixed(0)} MB`;

const server = await startPostgres({ max_wal_size: "'4GB'" });
const sql = postgres(server.url, { max: WRITERS, fetch_types: false, onnotice: () => undefined });
const folder = mkdtempSync(join(tmpdir(), 'coxswain-bench-'));
const stores = {
  postgres: postgresStore(sql, { partitioning: 'monthly' }),
  sqlite: sqliteStore(join(folder, 'runs.db')),
};

const seconds = await fill(stores.postgres, RECORDS_A_RUN);
await sql`VACUUM ANALYZE`;
const tables = await sql`
  SELECT c.relname AS name, pg_table_size(c.oid) AS bytes, pg_indexes_size(c.oid) AS indices
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = 'coxswain' AND c.relkind = 'r' AND pg_table_size(c.oid) > 1000000 ORDER BY 2 DESC`;
const [log] = await sql`SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS bytes`;
console.log(
  `${RUNS} runs, ${RECORDS} records: ${mb(await stores.postgres.sizeOf())} of JSON, written in ${seconds.toFixed(0)} s, log ${mb(log?.['bytes'])}`,
);
for (const { name, bytes, indices } of tables) console.log(`  ${name}: ${mb(bytes)}, its indices ${mb(indices)}`);

// A list reads no records.
await fill(stores.sqlite, 2);
const times: Record<keyof typeof stores, { first: number[]; middle: number[] }> = {
  postgres: { first: [], middle: [] },
  sqlite: { first: [], middle: [] },
};
const middle: Partial<Record<keyof typeof stores, string>> = {};
for (const name of ['postgres', 'sqlite'] as const) {
  let seen = 0;
  let after: string | undefined;
  while (seen < RUNS / 2) {
    const page = await stores[name].listRuns(after === undefined ? { limit: 1_000 } : { limit: 1_000, after });
    seen += page.runs.length;
    after = page.next;
    if (after === undefined) break;
  }
  if (after !== undefined) middle[name] = after;
}
for (let round = 0; round < ROUNDS; round += 1) {
  for (const name of round % 2 === 0 ? (['postgres', 'sqlite'] as const) : (['sqlite', 'postgres'] as const)) {
    for (const place of ['first', 'middle'] as const) {
      const after = place === 'middle' ? middle[name] : undefined;
      const began = performance.now();
      const { runs } = await stores[name].listRuns(after === undefined ? { limit: PAGE } : { limit: PAGE, after });
      times[name][place].push(performance.now() - began);
      if (runs.length !== PAGE) throw new Error(`${name}: a page of ${runs.length} runs`);
    }
  }
}
for (const place of ['first', 'middle'] as const) {
  const [ours, theirs] = [median(times.postgres[place]), median(times.sqlite[place])];
  console.log(
    `the ${place} page of ${PAGE} runs: postgres ${ours.toFixed(2)} ms, sqlite ${theirs.toFixed(2)} ms (${(ours / theirs).toFixed(2)}x)`,
  );
}
const [{ month } = {}] = await sql`SELECT max(month) AS month FROM coxswain.runs`;
const began = performance.now();
await sql.begin(async (one) => {
  await one.unsafe(`DROP TABLE coxswain.records_${month}, coxswain.record_words_${month}`);
  await one.unsafe(`DELETE FROM coxswain.runs WHERE month = ${month}`);
});
console.log(`a month deleted by its partition: ${(performance.now() - began).toFixed(0)} ms`);
await stores.sqlite.close();
await stores.postgres.close();
await sql.end();
await server.dispose();
rmSync(folder, { recursive: true, force: true });
