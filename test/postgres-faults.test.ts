import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';

import { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { rounds } from './support/rounds.ts';
import { endWithTest } from './support/end-with-test.ts';
import type { CoxswainErrorCode } from '../src/core/base/error.ts';
import { postgresStore } from '../src/stores/postgres/postgres-store.ts';
import type { PostgresStore, PostgresStoreOptions } from '../src/stores/postgres/postgres-store.ts';
import { noPostgres, startPostgres } from './support/postgres-server.ts';
import type { PostgresServer } from './support/postgres-server.ts';
import { readAll, scriptCalls, scriptRecord } from './support/script-records.ts';
import { startTcpProxy } from './support/tcp-proxy.ts';

/** Processes killed, each with `WRITERS` stores. */
const ROUNDS = rounds({ full: 25, short: 3 });
const WRITERS = 4;

const openPool = (connectionString: string): Pool => new Pool({ connectionString, max: 4 });

describe.skipIf(noPostgres !== undefined)(
  `faults${noPostgres === undefined ? '' : ` (skipped: ${noPostgres})`}`,
  () => {
    let server: PostgresServer;
    let cleanUps: (() => Promise<unknown>)[] = [];
    beforeAll(async () => {
      server = await startPostgres();
    });
    afterAll(() => server.dispose());
    afterEach(async () => {
      for (const cleanUp of cleanUps.reverse()) await cleanUp();
      cleanUps = [];
    });

    function open(pool: Pool, options: PostgresStoreOptions = {}): PostgresStore {
      const store = postgresStore(pool, { endHandle: true, ...options });
      cleanUps.push(() => store.close());
      return store;
    }

    async function isWhole(store: PostgresStore, acknowledged: ReadonlyMap<string, number>): Promise<void> {
      for (const [runId, lastSeq] of acknowledged) {
        const seqs = (await readAll(store, runId)).map(({ seq }) => seq);
        expect(seqs).toEqual(seqs.map((_, index) => index));
        expect(seqs.length).toBeGreaterThan(lastSeq);
      }
      const problems = await Array.fromAsync(store.verify());
      expect(problems).toEqual([]);
    }

    test(
      `records acknowledged to a process that is killed are there, and nothing is torn`,
      async () => {
        const schema = 'killed';
        const acknowledged = new Map<string, number>();
        for (let round = 0; round < ROUNDS; round += 1) {
          // On a busy machine, a writer may not be acknowledged until all are awaited.
          const writers = round === ROUNDS - 1 ? WRITERS : 1;
          const writtenRuns = await killedWriters(server.url, { schema, writers });
          for (const [runId, seq] of writtenRuns) acknowledged.set(runId, seq);
        }
        const store = open(openPool(server.url), { schema });
        expect(acknowledged.size).toBe(WRITERS);
        await isWhole(store, acknowledged);
        const records = [...acknowledged.values()].reduce((sum, lastSeq) => sum + lastSeq + 1, 0);
        process.stdout.write(
          `SIGKILL of PostgreSQL writers: ${ROUNDS} rounds, ${records} acknowledged records, none lost\n`,
        );
      },
      60_000 + ROUNDS * 30_000,
    );

    test(`a stream of appends goes on through restarts of the server`, async () => {
      // A server on a busy machine may need longer than the default to restart.
      const store = open(openPool(server.url), { schema: 'restarted', retryForMs: 150_000 });
      const acknowledged = new Map<string, number>();
      const over = new AbortController();
      const writers = ['a', 'b', 'c'].map(async (runId) => {
        for (let seq = 0; !over.signal.aborted; seq += 10) {
          acknowledged.set(runId, await store.append(scriptCalls(runId, 10, seq)));
        }
      });
      try {
        for (const how of ['fast', 'immediate', 'kill', 'fast'] as const) {
          await sleep(200 + Math.random() * 200);
          await (how === 'kill' ? server.kill() : server.stop(how));
          await sleep(Math.random() * 200);
          await server.start();
        }
        await sleep(200);
      } finally {
        over.abort();
      }
      await Promise.all(writers);
      expect(acknowledged.size).toBe(3);
      await isWhole(store, acknowledged);
    });

    test(`a stream of appends and transactions goes on through broken connections, each done once`, async () => {
      const proxy = await startTcpProxy(server.port);
      cleanUps.push(() => proxy.dispose());
      const store = open(openPool(server.url.replace(String(server.port), String(proxy.port))), {
        schema: 'dropped',
      });
      await store.append(scriptCalls('a', 1));
      const over = new AbortController();
      let appended = 0;
      let transactions = 0;
      const appends = (async () => {
        for (let seq = 1; !over.signal.aborted; seq += 5) appended = await store.append(scriptCalls('a', 5, seq));
      })();
      const counting = (async () => {
        for (; !over.signal.aborted; transactions += 1) {
          await store.transact('b', ({ nextSeq, snapshot }) => ({
            records: [scriptRecord({ runId: 'b', seq: nextSeq })],
            snapshot: Number(snapshot ?? 0) + 1,
            result: nextSeq,
          }));
        }
      })();
      for (let breaks = 0; breaks < 30; breaks += 1) {
        await sleep(20 + Math.random() * 60);
        if (breaks % 2 === 0) proxy.drop();
        else proxy.swallowNextAnswer();
      }
      over.abort();
      await Promise.all([appends, counting]);
      await isWhole(store, new Map([['a', appended]]));
      expect((await readAll(store, 'b')).length).toBe(transactions);
      expect(await store.transact('b', ({ snapshot }) => ({ records: [], result: snapshot }))).toBe(transactions);
    });

    test(`an append whose answer is lost is stored once`, async () => {
      const proxy = await startTcpProxy(server.port);
      cleanUps.push(() => proxy.dispose());
      const store = open(openPool(server.url.replace(String(server.port), String(proxy.port))), {
        schema: 'swallowed',
      });
      for (let seq = 0; seq < 8; seq += 1) {
        // The statement is prepared by then: one answer is the answer of the commit.
        if (seq > 4) proxy.swallowNextAnswer();
        expect(await store.append(scriptCalls('a', 1, seq))).toBe(seq);
      }
      expect(await readAll(store, 'a')).toEqual(scriptCalls('a', 8));
      expect(await store.findRun('a')).toMatchObject({ records: 8, calls: 8 });
    });

    test(`connections that lead to a server which does not write are given up for new ones`, async () => {
      const admin = new Pool({ connectionString: server.url, max: 1 });
      cleanUps.push(() => admin.end());
      const schema = 'read_only';
      await open(openPool(server.url), { schema }).append(scriptCalls('a', 1));
      await admin.query('ALTER ROLE postgres SET default_transaction_read_only = on');
      try {
        const store = open(openPool(server.url), { schema });
        expect(await Promise.all(['a', 'a', 'a'].map((runId) => store.findRun(runId)))).toHaveLength(3);
        const appending = store.append(scriptCalls('a', 3));
        await sleep(200);
        await admin.query('SET default_transaction_read_only = off');
        await admin.query('ALTER ROLE postgres RESET default_transaction_read_only');
        expect(await appending).toBe(2);
      } finally {
        await admin.query('ALTER ROLE postgres RESET default_transaction_read_only');
      }
    });

    test(`a server that stays away is store-io after the time for retries`, async () => {
      const proxy = await startTcpProxy(server.port);
      await proxy.dispose();
      const store = open(openPool(server.url.replace(String(server.port), String(proxy.port))), {
        retryForMs: 300,
      });
      const code: CoxswainErrorCode = 'store-io';
      await expect(store.append(scriptCalls('a', 1))).rejects.toMatchObject({ code, cause: expect.anything() });
    });
  },
);

/** Runs a process with several writers, kills it at a random moment, and gives what was acknowledged to it. */
async function killedWriters(
  url: string,
  { schema, writers }: { readonly schema: string; readonly writers: number },
): Promise<ReadonlyMap<string, number>> {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const script = `
    import { writeSync } from 'node:fs';
    import { postgresStore } from './src/stores/postgres/postgres-store.ts';
    import { Pool } from 'pg';
    const [connectionString, schema] = process.argv.slice(1);
    const store = postgresStore(new Pool({ connectionString, max: ${WRITERS} }), { schema });
    const record = (runId, seq) => ({ schema_version: 1, seq, run_id: runId, depth: 0, recorded_at_unix_ms: 1 + seq,
      payload: { kind: 'compaction', trigger: 'x'.repeat(seq % 2000) } });
    for (const runId of Array.from({ length: ${WRITERS} }, (_, index) => 'writer-' + index)) {
      (async () => {
        for (let seq = ((await store.findRun(runId))?.lastSeq ?? -1) + 1; ; ) {
          const batch = Array.from({ length: 1 + Math.floor(Math.random() * 8) }, (_, index) => record(runId, seq + index));
          seq = (await store.append(batch)) + 1;
          writeSync(1, runId + ' ' + (seq - 1) + '\\n');
        }
      })();
    }`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, url, schema], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  endWithTest(child);
  let output = '';
  let isSet = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (isSet || acknowledgedIn(output).size < writers) return;
    isSet = true;
    setTimeout(() => child.kill('SIGKILL'), Math.random() * 60);
  });
  const [, signal] = await once(child, 'close');
  expect(signal).toBe('SIGKILL');
  return acknowledgedIn(output);
}

/** A line that the kill cut off was not read by anyone as acknowledged. */
function acknowledgedIn(output: string): ReadonlyMap<string, number> {
  const lines = output.split('\n').slice(0, -1);
  return new Map(lines.map((line) => [line.split(' ')[0] ?? '', Number(line.split(' ')[1])]));
}
