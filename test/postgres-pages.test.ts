import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { isJsonObject } from '../src/core/base/json.ts';
import { listSql } from '../src/stores/postgres/postgres-tail.ts';
import { postgresStore } from '../src/stores/postgres/postgres-store.ts';
import { noPostgres, startPostgres, type PostgresServer } from './support/postgres-server.ts';

const RUNS = 20_000;
const PAGE = 50;
const SCHEMA = 'pages';

/** The nodes of a plan that read a table. */
function scansOf(plan: unknown): readonly { readonly type: string; readonly rows: number }[] {
  if (!isJsonObject(plan)) return [];
  const { Plans: parts, 'Node Type': type, 'Actual Rows': rows, 'Rows Removed by Filter': removed = 0 } = plan;
  const own = String(type).includes('Scan') ? [{ type: String(type), rows: Number(rows) + Number(removed) }] : [];
  return [...own, ...(Array.isArray(parts) ? parts.flatMap(scansOf) : [])];
}

describe.skipIf(noPostgres !== undefined)(
  `pages of runs in a real PostgreSQL${noPostgres === undefined ? '' : ` (skipped: ${noPostgres})`}`,
  () => {
    let server: PostgresServer;
    let pool: Pool;
    beforeAll(async () => {
      server = await startPostgres({ fsync: 'off' });
      pool = new Pool({ connectionString: server.url, max: 2 });
    });
    afterAll(async () => {
      await pool.end();
      await server.dispose();
    });

    test.for([
      { starts: 'equal starts', startedMs: '1000' },
      { starts: 'a few starts', startedMs: 'i % 3' },
      { starts: 'different starts', startedMs: 'i' },
    ])('every page reads only its own rows, with $starts', async ({ startedMs }) => {
      const store = postgresStore(pool, { schema: SCHEMA });
      await store.listRuns();
      await pool.query(`TRUNCATE ${SCHEMA}.runs CASCADE`);
      await pool.query(
        `INSERT INTO ${SCHEMA}.runs (run_id, month, started_ms, last_seq, summary, changed_at)
         SELECT 'run-' || lpad(i::text, 6, '0'), 202611, ${startedMs}, 3, repeat('x', 400), now() FROM generate_series(1, ${RUNS}) AS i`,
      );
      // With statistics the planner knows that starts are equal.
      await pool.query(`ANALYZE ${SCHEMA}.runs`);
      const everyId = await pool.query<{ id: string; started: number }>(
        `SELECT run_id AS id, started_ms AS started FROM ${SCHEMA}.runs ORDER BY started_ms DESC, run_id`,
      );
      for (const at of [-1, 0, RUNS >> 1, RUNS - 500, RUNS - 2]) {
        const last = everyId.rows[at];
        const values = [String(last === undefined ? -Infinity : -last.started), last?.id ?? '', String(PAGE + 1)];
        const page = await pool.query<{ id: string }>(listSql(SCHEMA, true), values);
        expect(page.rows.map(({ id }) => id)).toEqual(everyId.rows.slice(at + 1, at + PAGE + 2).map(({ id }) => id));
        const plan = await pool.query<{ 'QUERY PLAN': readonly { readonly Plan: unknown }[] }>(
          `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${listSql(SCHEMA, false)}`,
          values,
        );
        const scans = scansOf(plan.rows[0]?.['QUERY PLAN'][0]?.Plan).filter(({ type }) => type !== 'Subquery Scan');
        expect(scans.map(({ type }) => type)).not.toContain('Seq Scan');
        // Two ranges, and the rows that sorting by the whole id reads ahead.
        expect(scans.reduce((sum, { rows }) => sum + rows, 0)).toBeLessThan(4 * PAGE);
      }
      await store.close();
    });
  },
);
