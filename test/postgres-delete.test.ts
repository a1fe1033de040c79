import { setTimeout as sleep } from 'node:timers/promises';

import { Pool, type PoolClient } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { createPostgresDeletion } from '../src/stores/postgres/postgres-transact.ts';
import { clientFromPool } from '../src/stores/postgres/postgres-client.ts';
import { postgresStore } from '../src/stores/postgres/postgres-store.ts';
import type { PostgresStore, PostgresStoreOptions } from '../src/stores/postgres/postgres-store.ts';
import { noPostgres, rowsOf, startPostgres } from './support/postgres-server.ts';
import type { PostgresServer } from './support/postgres-server.ts';
import { readAll, scriptCalls } from './support/script-records.ts';
import { startTcpProxy } from './support/tcp-proxy.ts';

const skipped = noPostgres === undefined ? '' : ` (skipped: ${noPostgres})`;

describe.skipIf(noPostgres !== undefined)(`deleting runs in PostgreSQL${skipped}`, () => {
  let server: PostgresServer;
  let admin: Pool;
  let cleanUps: (() => Promise<unknown>)[] = [];
  let schemas = 0;
  beforeAll(async () => {
    server = await startPostgres({ fsync: 'off' });
    admin = new Pool({ connectionString: server.url, max: 3 });
  });
  afterAll(async () => {
    await admin.end();
    await server.dispose();
  });
  afterEach(async () => {
    for (const cleanUp of cleanUps.reverse()) await cleanUp();
    cleanUps = [];
  });

  const newSchema = (): string => `delete_${(schemas += 1)}`;

  function open(options: PostgresStoreOptions, pool = new Pool({ connectionString: server.url })) {
    const store: PostgresStore = postgresStore(pool, { endHandle: true, ...options });
    cleanUps.push(() => store.close());
    return store;
  }

  async function countIn(schema: string, table: string): Promise<number> {
    const [row] = await rowsOf(admin, `SELECT count(*)::int AS n FROM ${schema}.${table}`);
    return Number(row?.['n']);
  }

  /** Resolves once a statement waits for a lock. */
  async function untilSomebodyWaits(): Promise<void> {
    for (;;) {
      const rows = await rowsOf(admin, 'SELECT 1 FROM pg_locks WHERE NOT granted');
      if (rows.length > 0) return;
      await sleep(5);
    }
  }

  test('a deletion leaves no row in any table', async () => {
    const schema = newSchema();
    const store = open({ schema });
    for (const runId of ['a', 'b']) {
      await store.append(scriptCalls(runId, 300));
      await store.transact(runId, () => ({ records: [], snapshot: 'saved', result: 0 }));
    }
    expect((await store.search({ text: 'call', limit: 1000 })).hits).toHaveLength(600);
    expect(await store.deleteRun('a')).toBe(true);
    const left = { runs: 1, records: 300, record_words: 300, snapshots: 1, indexed_runs: 1 };
    for (const [table, rows] of Object.entries(left))
      expect([table, await countIn(schema, table)]).toEqual([table, rows]);
  });

  test('the size is that of the records as JSON, whichever way they were stored', async () => {
    const schema = newSchema();
    const store = open({ schema });
    await store.append(scriptCalls('ä', 10));
    await store.append(scriptCalls('ä', 20, 10));
    await open({ schema }).append(scriptCalls('ä', 30, 25));
    await store.transact('ä', (view) => ({ records: scriptCalls('ä', 5, view.nextSeq), result: 0 }));
    const sum = async (): Promise<number> => {
      const [row] = await rowsOf(admin, `SELECT sum(octet_length(json))::int AS bytes FROM ${schema}.records`);
      return Number(row?.['bytes']);
    };
    expect(await store.sizeOf()).toBe(await sum());
    expect((await store.listRuns({ withBytes: true })).bytes).toEqual([await sum()]);
  });

  test('a search that indexes a run while it is deleted finds the others', async () => {
    const schema = newSchema();
    const store = open({ schema });
    await store.append(scriptCalls('a', 20));
    await store.append(scriptCalls('b', 5));
    let searching: Promise<unknown> | undefined;
    await inTransaction(admin, async (session) => {
      // A deletion that is not committed yet.
      await session.query(
        `DELETE FROM ${schema}.records WHERE run_no = (SELECT run_no FROM ${schema}.runs WHERE run_id = 'a')`,
      );
      await session.query(`DELETE FROM ${schema}.runs WHERE run_id = 'a'`);
      searching = store.search({ text: 'call' });
      await untilSomebodyWaits();
    });
    expect(await searching).toMatchObject({ notIndexed: 0, hits: { length: 5 } });
    expect(await countIn(schema, 'record_words')).toBe(5);
    expect(await Array.fromAsync(store.verify())).toEqual([]);
  });

  test('a run that is deleted while the store is checked is no damage', async () => {
    const schema = newSchema();
    const store = open({ schema });
    await store.append(scriptCalls('damaged', 3));
    await store.append(scriptCalls('deleted', 3));
    await admin.query(`UPDATE ${schema}.records SET json = '{' WHERE seq = 1 AND run_no = 1`);
    const problems = store.verify()[Symbol.asyncIterator]();
    expect((await problems.next()).value).toMatchObject({ runId: 'damaged' });
    await store.deleteRun('deleted');
    const rest = await Array.fromAsync({ [Symbol.asyncIterator]: () => problems });
    expect(rest.filter(({ runId }) => runId !== 'damaged')).toEqual([]);
  });

  test('a writer that waits for a deletion finds its run gone, and starts it again', async () => {
    const schema = newSchema();
    const [store, other] = [open({ schema }), open({ schema })];
    await store.append(scriptCalls('a', 5));
    await other.transact('a', () => ({ records: [], result: 0 }));
    let goingOn: Promise<unknown> | undefined;
    let restarted: Promise<number> | undefined;
    await inTransaction(admin, async (session) => {
      await session.query(`DELETE FROM ${schema}.records`);
      await session.query(`DELETE FROM ${schema}.runs`);
      goingOn = store.append(scriptCalls('a', 1, 5)).catch((thrown: unknown) => thrown);
      restarted = other.transact('a', (view) => ({ records: scriptCalls('a', 1, view.nextSeq), result: view.nextSeq }));
      await untilSomebodyWaits();
    });
    expect(await restarted).toBe(0);
    expect(await goingOn).toMatchObject({ code: 'store-gap' });
    expect(await readAll(store, 'a')).toEqual(scriptCalls('a', 1));
    expect(await Array.fromAsync(store.verify())).toEqual([]);
  });

  test('a deletion whose answer was lost answers true when it is tried again', async () => {
    const schema = newSchema();
    await open({ schema }).append(scriptCalls('a', 3));
    const pool = new Pool({ connectionString: server.url });
    cleanUps.push(() => pool.end());
    const client = clientFromPool(pool);
    const deletion = createPostgresDeletion('a');
    expect(await deletion(client, schema, false)).toBe(true);
    expect(await deletion(client, schema, true)).toBe(true);
    expect(await createPostgresDeletion('a')(client, schema, true)).toBe(false);
  });

  test('a deletion whose connection breaks is done once, and answers true', async () => {
    const schema = newSchema();
    const proxy = await startTcpProxy(server.port);
    cleanUps.push(() => proxy.dispose());
    const direct = open({ schema });
    const connectionString = server.url.replace(String(server.port), String(proxy.port));
    const store = open({ schema }, new Pool({ connectionString, max: 4 }));
    await store.listRuns();
    for (let round = 0; round < 15; round += 1) {
      await direct.append(scriptCalls('a', 100));
      const deleting = store.deleteRun('a');
      await sleep(Math.random() * 8);
      if (round % 2 === 0) proxy.drop();
      else proxy.swallowNextAnswer();
      expect(await deleting).toBe(true);
      expect(await direct.findRun('a')).toBeUndefined();
      await store.listRuns();
    }
    expect(await countIn(schema, 'records')).toBe(0);
  });
});

async function inTransaction(pool: Pool, work: (session: PoolClient) => Promise<void>): Promise<void> {
  const session = await pool.connect();
  await session.query('BEGIN');
  await work(session);
  await session.query('COMMIT');
  session.release();
}
