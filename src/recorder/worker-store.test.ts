import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqliteReader } from '../store/sqlite/sqlite-reader.ts';
import { openOnDisk } from '../../test/support/open-on-disk.ts';
import { readAll } from '../testing/read-all.ts';
import { scriptCalls, scriptRecord } from '../testing/record-script.ts';
import { storeContract } from '../../test/support/store-contract.ts';
import { testFolder } from '../../test/support/test-folder.ts';
import { RecordQueue } from './record-queue.ts';
import { workerStore } from './worker-store.ts';
import { HANGS_AFTER_MS } from '../../test/support/hangs-after.ts';

// Each history opens several threads.
const modelRuns = Number(process.env['COXSWAIN_ROUNDS'] ?? 10);
storeContract(
  'a SQLite store in a worker',
  () => openOnDisk((folder) => workerStore({ path: join(folder, 'runs.db') })),
  { modelRuns },
);
test('a transaction folds again if another writer of the run was faster', async () => {
  const folder = testFolder();
  const path = join(folder, 'runs.db');
  const stores = [workerStore({ path }), workerStore({ path })];
  let folds = 0;
  // Both threads run, so that they get in each other's way.
  for (const store of stores) await store.listRuns();
  await Promise.all(
    stores.map(async (store) => {
      for (let round = 0; round < 25; round += 1) {
        await store.transact('a', (view) => {
          folds += 1;
          const missed = view.missed().length;
          return {
            records: scriptCalls('a', 1, view.nextSeq),
            snapshot: Number(view.snapshot ?? 0) + 1,
            result: missed,
          };
        });
      }
    }),
  );
  const [store] = stores;
  if (store === undefined) throw new Error('two were opened');
  expect(await readAll(store, 'a')).toEqual(scriptCalls('a', 50));
  expect(await store.transact('a', (view) => ({ records: [], result: view.snapshot }))).toBe(50);
  expect(folds).toBeGreaterThan(50);
  for (const openStore of stores) await openStore.close();
});

test('an error of the store keeps its code, details and cause', async () => {
  const folder = testFolder();
  const file = join(folder, 'no-database');
  writeFileSync(file, 'this is a text of somebody else, long enough to be looked at'.repeat(200));
  const store = workerStore({ path: file });
  await expect(store.findRun('a')).rejects.toMatchObject({ name: 'CoxswainError', code: 'store-version' });
  await expect(store.findRun('a')).rejects.toMatchObject({ code: 'store-version' });
  await store.close();
  const other = workerStore({ path: join(folder, 'runs.db') });
  await expect(other.append(scriptCalls('a', 1, 3))).rejects.toMatchObject({
    code: 'store-gap',
    details: { runId: 'a', expected: 0, got: 3 },
  });
  await other.close();
});

test('the thread does not keep the process alive while no call is pending', async () => {
  const folder = testFolder();
  const program = `
    import { workerStore } from ${JSON.stringify(new URL('worker-store.ts', import.meta.url).href)};
    const store = workerStore({ path: ${JSON.stringify(join(folder, 'runs.db'))} });
    store.append(${JSON.stringify(scriptCalls('a', 3))}).then((seq) => console.log(seq));`;
  const result = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    timeout: HANGS_AFTER_MS,
  });
  expect({ status: result.status, out: result.stdout, err: result.stderr }).toEqual({ status: 0, out: '2\n', err: '' });
  expect(await readAll(openSqliteReader(join(folder, 'runs.db')), 'a')).toHaveLength(3);
});

test('records appended before close are stored, and every call resolves', async () => {
  const folder = testFolder();
  const store = workerStore({ path: join(folder, 'runs.db') });
  const runs = Array.from({ length: 12 }, (_, run) => `run-${run}`);
  const appends = runs.map((runId, run) => store.append(scriptCalls(runId, 1 + run * 20)));
  await store.close();
  expect(await Promise.all(appends)).toEqual(runs.map((_, run) => run * 20));
});

test('recording 20,000 records does not block the event loop of the agent', async () => {
  const folder = testFolder();
  const store = workerStore({ path: join(folder, 'runs.db') });
  await store.listRuns();
  const queue = new RecordQueue(store);
  const result = 'x'.repeat(700);
  // Processor time of the agent's own thread from one turn to the next: what other threads and processes take does not count.
  const turnsMs: number[] = [];
  let lastCpu = process.threadCpuUsage();
  for (let seq = 0; seq < 20_000; seq += 1) {
    const payload = {
      kind: 'tool_ended',
      tool_call_id: `c${seq}`,
      tool_name: 'read',
      result,
      is_error: false,
    } as const;
    queue.add(scriptRecord({ runId: 'a', seq, payload }));
    if (seq % 20 === 0) await new Promise((turn) => setTimeout(turn, 1));
    const { system, user } = process.threadCpuUsage(lastCpu);
    if (seq % 20 === 0) {
      turnsMs.push((system + user) / 1_000);
      lastCpu = process.threadCpuUsage();
    }
  }
  expect(await queue.flush({ timeLimitMs: HANGS_AFTER_MS })).toBe('stored');
  expect(queue.health()).toMatchObject({ written: 20_000, dropped: 0 });
  expect(turnsMs.toSorted((a, b) => a - b).at(Math.floor(turnsMs.length * 0.99))).toBeLessThan(20);
  await store.close();
});
