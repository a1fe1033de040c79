import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { inFaults, thorough } from './support/rounds.ts';
import { runCli, type CliResult } from './run-cli.ts';
import { endWithTest } from './support/end-with-test.ts';
import { noPostgres, runSql, startPostgres, type PostgresServer } from './support/postgres-server.ts';
import { testFolder } from './support/test-folder.ts';

const SAMPLE = join(import.meta.dirname, '..', 'samples', 'stuck-run.jsonl');
const FILES = 12;

test('a queue that cannot be used gives one line', async () => {
  const fails = async (...args: readonly string[]): Promise<readonly unknown[]> => {
    const { code, stderr } = await runCli(['backtest', ...args], { cwd: import.meta.dirname });
    return [code, stderr];
  };
  const [code, text] = await fails(SAMPLE, '--queue', 'postgres://u:secret@127.0.0.1:9/none');
  expect([code, text]).toEqual([1, expect.stringMatching(/^coxswain: postgres:\/\/u:\*\*\*@127.0.0.1:9\/none: .+\n$/)]);
  expect(await fails(SAMPLE, '--queue', 'queue.db')).toEqual([2, expect.stringContaining('give postgres://')]);
  expect(await fails('-', '--queue', 'postgres://x')).toEqual([
    2,
    expect.stringContaining('cannot be combined with --resume or -'),
  ]);
});

describe.skipIf(noPostgres !== undefined)(`through a queue on PostgreSQL ${noPostgres ?? ''}`, () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.dispose());

  async function newRuns(): Promise<string> {
    const folder = testFolder();
    await mkdir(join(folder, 'runs'));
    const copies = Array.from({ length: FILES }, (_none, at) => join(folder, 'runs', `run-${at}.jsonl`));
    await Promise.all(copies.map((path) => cp(SAMPLE, path)));
    return folder;
  }
  const backtest = async (cwd: string, ...more: readonly string[]): Promise<CliResult> =>
    runCli(['backtest', 'runs', '--json', ...more], { cwd });

  test('several machines share the shards, each prints the bytes of one machine, and a second time nothing is replayed', async () => {
    const cwd = await newRuns();
    const alone = await backtest(cwd);
    const queue = ['--queue', server.url];
    const shared = await Promise.all(
      [1, 2, 3].map(async (workers) => backtest(cwd, ...queue, '--workers', `${workers}`)),
    );
    expect(alone.code).toBe(0);
    expect(shared).toEqual([alone, alone, alone]);
    const jobs = async (): Promise<unknown> =>
      runSql(
        server.url,
        'SELECT count(*)::int AS jobs, sum(retry_count)::int AS retries, max(started_on) AS last FROM coxswain_queue.job',
      );
    const before = await jobs();
    expect(before).toEqual([{ jobs: FILES, retries: 0, last: expect.any(Date) }]);
    expect(await backtest(cwd, ...queue)).toEqual(alone);
    expect(await jobs()).toEqual(before);
  });

  test.runIf(thorough)(`a machine that is killed in the middle of a shard loses nothing${inFaults}`, async () => {
    const cwd = await newRuns();
    // It takes a shard and never finishes it.
    const slow = join(cwd, 'slow.ts');
    await writeFile(
      slow,
      `import { ShardQueue } from ${JSON.stringify(join(import.meta.dirname, '..', 'src', 'lab', 'shard-queue.ts'))};
import { jobKey } from ${JSON.stringify(join(import.meta.dirname, '..', 'src', 'lab', 'shard-journal.ts'))};
import { listShards } from ${JSON.stringify(join(import.meta.dirname, '..', 'src', 'lab', 'list-shards.ts'))};
import { makeConfiguration } from ${JSON.stringify(join(import.meta.dirname, '..', 'src', 'lab', 'configuration.ts'))};
const shards = await listShards(['runs']);
const key = jobKey(shards, [await makeConfiguration({})]);
const queue = await ShardQueue.open(process.argv[2], { key, shards: shards.length, onResult: () => {} });
console.log('took', await queue.take());`,
    );
    const killed = spawn(process.execPath, [slow, server.url], { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
    endWithTest(killed);
    const [said] = await once(killed.stdout, 'data');
    expect(String(said)).toMatch(/^took \d+\n$/);
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    const alone = await backtest(cwd);
    expect(await backtest(cwd, '--queue', server.url)).toEqual(alone);
  });
});
