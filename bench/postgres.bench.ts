/**
 * `store.append` in batches relative to bare multi-row inserts of the same bytes into the same table, on a real PostgreSQL (`fsync` on),
 * in alternating rounds. Run: `node bench/postgres.bench.ts [ROUNDS]`, default 9. Prints records per second (median) and the ratio; the
 * target is at least 0.7.
 */
import { Pool } from 'pg';

import { encodeRecord } from '../src/core/records/decode-record.ts';
import type { TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import { postgresStore } from '../src/stores/postgres/postgres-store.ts';
import { scriptRecord } from '../test/support/script-records.ts';
import { startPostgres } from '../test/support/postgres-server.ts';

const ROUNDS = Number(process.argv[2] ?? 9);
const RECORDS_A_ROUND = 20_000;
/** Runs written concurrently. */
const WRITERS = 4;

const server = await startPostgres({ shared_buffers: "'256MB'", max_wal_size: "'4GB'" });
const pool = new Pool({ connectionString: server.url, max: WRITERS });
await pool.query(`CREATE TABLE bare (
  month int NOT NULL, run_no bigint NOT NULL, seq bigint NOT NULL, at_ms float8 NOT NULL, kind text NOT NULL, json text NOT NULL,
  PRIMARY KEY (month, run_no, seq))`);

interface Batch {
  readonly records: readonly TrajectoryRecord[];
  readonly lines: readonly string[];
}

/** The batches of one run: records of about 1 KB. */
function batchesOf(runId: string, count: number, size: number): readonly Batch[] {
  const result = 'line of an ordinary result that goes on for a while;\n'.repeat(16);
  return Array.from({ length: count / size }, (_, batch) => {
    const records = Array.from({ length: size }, (__, index) => {
      const seq = batch * size + index;
      const id = `call-${seq}`;
      return scriptRecord({
        runId,
        seq,
        payload: { kind: 'tool_ended', tool_call_id: id, tool_name: 'read', result: result + id, is_error: false },
      });
    });
    return { records, lines: records.map(encodeRecord) };
  });
}

let runs = 0;

async function recordsASecond(size: number, write: (batch: Batch, run: number) => Promise<unknown>): Promise<number> {
  const work = Array.from({ length: WRITERS }, () => {
    const run = (runs += 1);
    return { run, batches: batchesOf(`run-${run}`, RECORDS_A_ROUND / WRITERS, size) };
  });
  const began = performance.now();
  await Promise.all(
    work.map(async ({ run, batches }) => {
      for (const batch of batches) await write(batch, run);
    }),
  );
  return RECORDS_A_ROUND / ((performance.now() - began) / 1000);
}

function insertOf(rows: number): string {
  const values = Array.from({ length: rows }, (_, row) => {
    const at = row * 6;
    return `($${at + 1}, $${at + 2}, $${at + 3}, $${at + 4}, $${at + 5}, $${at + 6})`;
  });
  return `INSERT INTO bare (month, run_no, seq, at_ms, kind, json) VALUES ${values.join(', ')}`;
}

function valuesOf({ records, lines }: Batch, run: number): (string | null)[] {
  return records.flatMap((record, index) => [
    '202611',
    String(run),
    String(record.seq),
    String(record.recorded_at_unix_ms),
    record.payload.kind,
    lines[index] ?? null,
  ]);
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const store = postgresStore(pool);
for (const size of [10, 100, 500]) {
  const text = insertOf(size);
  const rates: { readonly bare: number[]; readonly store: number[] } = { bare: [], store: [] };
  // The first round is warm-up.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const bareRate = await recordsASecond(size, (batch, run) =>
      pool.query({ name: `bare-${text.length}`, text, values: valuesOf(batch, run) }),
    );
    const storeRate = await recordsASecond(size, ({ records }) => store.append(records));
    if (round === 0) continue;
    rates.bare.push(bareRate);
    rates.store.push(storeRate);
  }
  const [bareRate, storeRate] = [median(rates.bare), median(rates.store)];
  console.log(
    `batches of ${String(size).padStart(3)}: bare ${bareRate.toFixed(0)}/s, ` +
      `store ${storeRate.toFixed(0)}/s, ratio ${(storeRate / bareRate).toFixed(2)}`,
  );
}
await store.close();
await pool.end();
await server.dispose();
