import { readFile } from 'node:fs/promises';

import { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { postgresStore } from '../src/stores/postgres/postgres-store.ts';
import type { PgPool, PostgresStore, PostgresStoreOptions } from '../src/stores/postgres/postgres-store.ts';
import type { StoreProblem } from '../src/core/store/trajectory-store.ts';
import { openPostgresReader } from '../src/stores/registry/open-postgres.ts';
import { noPostgres, rowsOf, startPostgres } from './support/postgres-server.ts';
import type { PostgresServer } from './support/postgres-server.ts';
import { scriptCalls, scriptRecord } from './support/script-records.ts';

const skipped = noPostgres === undefined ? '' : ` (skipped: ${noPostgres})`;

describe.skipIf(noPostgres !== undefined)(`the PostgreSQL driver${skipped}`, () => {
  let server: PostgresServer;
  let admin: Pool;
  let cleanUps: (() => Promise<unknown>)[] = [];
  let schemas = 0;
  beforeAll(async () => {
    server = await startPostgres({ fsync: 'off' });
    admin = new Pool({ connectionString: server.url, max: 2 });
  });
  afterAll(async () => {
    await admin.end();
    await server.dispose();
  });
  afterEach(async () => {
    for (const cleanUp of cleanUps.reverse()) await cleanUp();
    cleanUps = [];
  });

  const newSchema = (): string => `driver_${(schemas += 1)}`;

  function newPool(): Pool {
    const pool = new Pool({ connectionString: server.url, max: 3 });
    cleanUps.push(() => pool.end());
    return pool;
  }

  function open(schema: string, options: PostgresStoreOptions = {}, pool: PgPool = newPool()): PostgresStore {
    const store = postgresStore(pool, { schema, ...options });
    cleanUps.push(() => store.close());
    return store;
  }

  async function problemsOf(store: PostgresStore): Promise<readonly StoreProblem[]> {
    return Array.fromAsync(store.verify());
  }

  test('starters that come at the same time make the schema once', async () => {
    const schema = newSchema();
    const stores = Array.from({ length: 8 }, () => open(schema, {}, newPool()));
    await Promise.all(stores.map((store, index) => store.append(scriptCalls(`run-${index}`, 2))));
    expect((await stores[0]?.listRuns())?.runs).toHaveLength(8);
  });

  test('a newer layout, a schema of another program and a database without UTF8 are store-version', async () => {
    const newer = newSchema();
    await open(newer).listRuns();
    await admin.query(`UPDATE ${newer}.coxswain_layout SET version = 99`);
    await expect(open(newer).listRuns()).rejects.toMatchObject({
      code: 'store-version',
      message: expect.stringMatching(/layout 99.*layout 4/),
    });
    const foreign = newSchema();
    await admin.query(`CREATE SCHEMA ${foreign}; CREATE TABLE ${foreign}.runs (mine int)`);
    await expect(open(foreign).listRuns()).rejects.toMatchObject({ code: 'store-version' });
    await admin.query("CREATE DATABASE ascii ENCODING 'SQL_ASCII' TEMPLATE template0");
    const pool = new Pool({ connectionString: server.url.replace(/postgres$/, 'ascii') });
    cleanUps.push(() => pool.end());
    await expect(open('coxswain', {}, pool).listRuns()).rejects.toMatchObject({ code: 'store-version' });
  });

  test('options out of range, an unknown one and handles of something else are invalid-argument', async () => {
    const invalid = { code: 'invalid-argument' };
    for (const schema of ['', 'Upper', 'a"b', '1a', 'x'.repeat(41)]) {
      expect(() => postgresStore(newPool(), { schema })).toThrow(expect.objectContaining(invalid));
    }
    expect(() => postgresStore(newPool(), { retryForMs: -1 })).toThrow(expect.objectContaining(invalid));
    // As an untyped caller may pass.
    expect(() => postgresStore({} as Pool)).toThrow(expect.objectContaining(invalid));
    expect(() => open('runs', { partitioning: 'monthly' } as PostgresStoreOptions)).toThrow(
      /has no member partitioning/,
    );
  });

  test('an append to a run that this process wrote last is one statement', async () => {
    const pool: PgPool = newPool();
    const statements: string[] = [];
    const counting = {
      connect: () => pool.connect(),
      on: () => undefined,
      end: () => pool.end(),
      query: (statement: { readonly text: string; readonly values?: (string | null)[] }) => {
        statements.push(statement.text);
        return pool.query(statement);
      },
    };
    const store = open(newSchema(), {}, counting);
    await store.append(scriptCalls('a', 10));
    statements.length = 0;
    await store.append(scriptCalls('a', 10, 10));
    expect(statements.filter((text) => !text.includes('pg_notify'))).toHaveLength(1);
  });

  test('two processes that write one run neither overwrite each other nor leave a hole', async () => {
    const schema = newSchema();
    const [one, other] = [open(schema), open(schema)];
    await one.append(scriptCalls('a', 3));
    expect(await other.append(scriptCalls('a', 3, 3))).toBe(5);
    await expect(one.append([scriptRecord({ runId: 'a', seq: 3 })])).rejects.toMatchObject({ code: 'store-conflict' });
    await expect(one.append(scriptCalls('a', 1, 7))).rejects.toMatchObject({ code: 'store-gap' });
    expect(await one.append(scriptCalls('a', 4, 3))).toBe(6);
    const racing = await Promise.allSettled(
      [one, other].map((store, index) =>
        store.append([scriptRecord({ runId: 'a', seq: 7, payload: { kind: 'compaction', trigger: `${index}` } })]),
      ),
    );
    expect(racing.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await problemsOf(one)).toEqual([]);
  });

  test('a batch larger than one statement is stored whole', async () => {
    const store = open(newSchema());
    const records = Array.from({ length: 5 }, (_, seq) =>
      scriptRecord({ runId: 'a', seq, payload: { kind: 'compaction', trigger: String(seq).repeat(6_000_000) } }),
    );
    expect(await store.append(records)).toBe(4);
    const lengths: number[] = [];
    for await (const { payload } of store.readRun('a'))
      if (payload.kind === 'compaction') lengths.push(payload.trigger.length);
    expect(lengths).toEqual(records.map(() => 6_000_000));
  });

  test('a fold that catches what missed() throws is called again with the records', async () => {
    const store = open(newSchema());
    await store.append(scriptCalls('a', 4));
    const seen = await store.transact('a', (view) => {
      let missed = -1;
      try {
        missed = view.missed().length;
      } catch {
        // A careless fold.
      }
      return { records: [], snapshot: missed, result: missed };
    });
    expect(seen).toBe(4);
  });

  test('the statement for retention in docs/postgres.md deletes old runs with all that belongs to them', async () => {
    const schema = newSchema();
    const store = open(schema);
    for (const runId of ['old', 'new']) {
      await store.transact(runId, () => ({ records: scriptCalls(runId, 3), snapshot: 1, result: 0 }));
    }
    expect((await store.search({ text: 'call' })).hits).toHaveLength(6);
    await admin.query(`UPDATE ${schema}.runs SET changed_at = now() - interval '91 days' WHERE run_id = 'old'`);
    const page = await readFile(new URL('../docs/postgres.md', import.meta.url), 'utf8');
    const statement = /^WITH old AS [^]*?;$/m.exec(page)?.[0] ?? 'not found';
    await admin.query(statement.replaceAll('coxswain.', `${schema}.`));
    expect((await store.listRuns()).runs.map(({ runId }) => runId)).toEqual(['new']);
    expect((await store.search({ text: 'call' })).hits).toHaveLength(3);
    const [left] = await rowsOf(
      admin,
      `SELECT (SELECT count(*) FROM ${schema}.records) + (SELECT count(*) FROM ${schema}.record_words) + (SELECT count(*) FROM ${schema}.snapshots) AS rows`,
    );
    expect(Number(left?.['rows'])).toBe(3 + 3 + 1);
    expect(await problemsOf(store)).toEqual([]);
  });

  test('verify reports holes, damaged records, wrong summaries, snapshots ahead and records of no run', async () => {
    const schema = newSchema();
    const store = open(schema);
    for (const runId of ['hole', 'torn', 'short', 'ahead']) {
      await store.transact(runId, () => ({ records: scriptCalls(runId, 4), snapshot: 1, result: 0 }));
    }
    const numberOf = (runId: string): string => `(SELECT run_no FROM ${schema}.runs WHERE run_id = '${runId}')`;
    await admin.query(`
      DELETE FROM ${schema}.records WHERE run_no = ${numberOf('hole')} AND seq = 2;
      UPDATE ${schema}.records SET json = left(json, 20) WHERE run_no = ${numberOf('torn')} AND seq = 1;
      DELETE FROM ${schema}.records WHERE run_no = ${numberOf('short')} AND seq = 3;
      UPDATE ${schema}.snapshots SET covers_seq = 9 WHERE run_no = ${numberOf('ahead')};
      INSERT INTO ${schema}.records SELECT month, 999, seq, at_ms, kind, json FROM ${schema}.records WHERE run_no = ${numberOf('ahead')}`);
    const problems = await problemsOf(store);
    expect(problems.map(({ runId, seq }) => [runId, seq])).toEqual([
      ['hole', 2],
      ['torn', 1],
      ['short', 3],
      ['ahead', undefined],
      [undefined, undefined],
    ]);
    expect(problems[4]?.place).toContain('999');
  });

  test('a tail follows one run or all, also after its connection was lost', async () => {
    const schema = newSchema();
    const writer = open(schema);
    await writer.append(scriptCalls('a', 2));
    await writer.append(scriptCalls('b', 2));
    const reader = open(schema);
    const stop = new AbortController();
    const one = reader.tail('a', { signal: stop.signal })[Symbol.asyncIterator]();
    const all = reader.tail(undefined, { signal: stop.signal })[Symbol.asyncIterator]();
    expect((await one.next()).value).toEqual({ runId: 'a', lastSeq: 1 });
    const first = all.next();
    // The tail of all runs yields nothing by itself; this makes sure that it listens.
    await expect.poll(() => listeners()).toBeGreaterThanOrEqual(1);
    // Appends before the tail began are not reported, so the run grows until the tail reports one.
    let seq = 1;
    const grow = async (): Promise<boolean> => (await writer.append(scriptCalls('b', 1, (seq += 1)))) === seq;
    const begun = first.then(() => false);
    let isAwaited = true;
    while (isAwaited) isAwaited = await Promise.race([begun, grow()]);
    expect(await grow()).toBe(true);
    let news = (await first).value;
    while (news !== undefined && (news.runId !== 'b' || news.lastSeq < seq)) news = (await all.next()).value;
    expect(news).toEqual({ runId: 'b', lastSeq: seq });
    await admin.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query ILIKE 'listen%'");
    await writer.append(scriptCalls('a', 1, 2));
    expect((await one.next()).value).toEqual({ runId: 'a', lastSeq: 2 });
    expect((await all.next()).value).toEqual({ runId: 'a', lastSeq: 2 });
    const last = [one.next(), all.next()];
    stop.abort();
    expect(await Promise.all(last)).toEqual([
      { done: true, value: undefined },
      { done: true, value: undefined },
    ]);
  });

  test('the first look of a reader ends when what runs gain from then on is a change', async () => {
    const schema = newSchema();
    const writer = open(schema);
    await writer.append(scriptCalls('a', 2));
    const reader = await openPostgresReader(`${server.url}?schema=${schema}`, { waitMs: 10_000 });
    cleanUps.push(() => reader.close());
    // The tail cannot begin while the table is locked.
    const holder = await newPool().connect();
    await holder.query(`BEGIN; LOCK TABLE ${schema}.runs IN ACCESS EXCLUSIVE MODE`);
    let isOver = false;
    const look = reader.changes().then((ids) => {
      isOver = true;
      return ids;
    });
    const waiting = "SELECT 1 AS one FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    try {
      await expect.poll(async () => (await rowsOf(admin, waiting)).length).toBeGreaterThanOrEqual(1);
      expect(isOver).toBe(false);
    } finally {
      await holder.query('COMMIT');
      holder.release();
    }
    expect(await look).toBeUndefined();
    await writer.append(scriptCalls('a', 1, 2));
    await expect.poll(() => reader.changes()).toEqual(['a']);
  });

  async function listeners(): Promise<number> {
    return (await rowsOf(admin, "SELECT 1 AS one FROM pg_stat_activity WHERE query ILIKE 'listen%'")).length;
  }
});
