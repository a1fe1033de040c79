import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test, vi } from 'vitest';

import { listAll, readAll, scriptCalls } from '../../../test/support/script-records.ts';
import { tempFolder } from '../../../test/support/temp-folder.ts';
import { sqliteStore, type SqliteStoreOptions } from './sqlite-store.ts';
import type { TrajectoryStore } from '../../core/store/trajectory-store.ts';

async function openNew(
  options?: SqliteStoreOptions,
): Promise<{ readonly store: TrajectoryStore; readonly file: string }> {
  const folder = await tempFolder();
  const file = join(folder.path, 'runs.db');
  const store = sqliteStore(file, options);
  onTestFinished(async () => {
    await store.close();
    await folder.dispose();
  });
  return { store, file };
}

/** Transactions in the write-ahead log, by its format: the last frame of each has a size of the database. */
async function countCommits(file: string): Promise<number> {
  const log = await readFile(`${file}-wal`);
  const frameBytes = 24 + log.readUInt32BE(8);
  let commits = 0;
  for (let at = 32; at + frameBytes <= log.length; at += frameBytes) {
    const isOfThisLog = log.compare(log, 16, 24, at + 8, at + 16) === 0;
    if (isOfThisLog && log.readUInt32BE(at + 4) > 0) commits += 1;
  }
  return commits;
}

// A group ends after 8 ms, so on a loaded machine there may be a few.
test.each([
  ['group', 1, 5],
  ['none', 1, 5],
  ['each', 20, 20],
] as const)('with fsync %s, 20 appends asked for at once are %i to %i transactions', async (fsync, least, most) => {
  const { store, file } = await openNew({ fsync });
  await store.append(scriptCalls('first', 1));
  const before = await countCommits(file);
  await Promise.all(Array.from({ length: 20 }, (_, index) => store.append(scriptCalls(`run-${index}`, 3))));
  const transactions = (await countCommits(file)) - before;
  expect(transactions).toBeGreaterThanOrEqual(least);
  expect(transactions).toBeLessThanOrEqual(most);
  expect(await listAll(store)).toHaveLength(21);
});

test('an unknown fsync is invalid-argument', () => {
  // As an untyped caller may pass.
  const options = { fsync: 'sometimes' } as unknown as SqliteStoreOptions;
  expect(() => sqliteStore('x.db', options)).toThrow(expect.objectContaining({ code: 'invalid-argument' }));
});

test('a fault or a refusal affects no other write of its group', async () => {
  const { store, file } = await openNew();
  const raw = new DatabaseSync(file);
  raw.exec(
    "CREATE TRIGGER no BEFORE INSERT ON records WHEN new.run_id = 'bad' BEGIN SELECT RAISE(ABORT, 'disk on fire'); END",
  );
  raw.close();
  let folds = 0;
  const outcomes = await Promise.allSettled([
    store.append(scriptCalls('a', 2)),
    store.append(scriptCalls('late', 1, 5)),
    store.append(scriptCalls('bad', 2)),
    store.append(scriptCalls('a', 2, 2)),
    store.transact('b', (view) => {
      folds += 1;
      return { records: scriptCalls('b', 1, view.nextSeq), snapshot: folds, result: `fold ${folds}` };
    }),
  ]);
  expect(outcomes).toEqual([
    { status: 'fulfilled', value: 1 },
    { status: 'rejected', reason: expect.objectContaining({ code: 'store-gap' }) },
    {
      status: 'rejected',
      reason: expect.objectContaining({ code: 'store-io', message: expect.stringContaining('on fire') }),
    },
    { status: 'fulfilled', value: 3 },
    { status: 'fulfilled', value: `fold ${folds}` },
  ]);
  expect(await readAll(store, 'a')).toEqual(scriptCalls('a', 4));
  expect(await readAll(store, 'b')).toEqual(scriptCalls('b', 1));
  expect(await store.findRun('bad')).toBeUndefined();
  expect(await Array.fromAsync(store.verify())).toEqual([]);
});

test('flush and close wait for earlier writes', async () => {
  const { store, file } = await openNew();
  const raw = new DatabaseSync(file);
  const count = raw.prepare('SELECT count(*) AS stored FROM records');
  const appends = [0, 1, 2].map((seq) => store.append(scriptCalls('a', 1, seq)));
  expect(count.get()).toEqual({ stored: 0 });
  await store.flush();
  expect(count.get()).toEqual({ stored: 3 });
  raw.close();
  const last = store.append(scriptCalls('a', 1, 3));
  await store.close();
  await expect(store.append(scriptCalls('a', 1, 4))).rejects.toMatchObject({ code: 'store-closed' });
  expect(await last).toBe(3);
  expect(await Promise.all(appends)).toEqual([0, 1, 2]);
  const again = sqliteStore(file);
  expect(await readAll(again, 'a')).toEqual(scriptCalls('a', 4));
  await again.close();
});

test('each write has its own time limit for a lock, and a later write still succeeds', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { store, file } = await openNew({ timeoutMs: 4_000 });
  const raw = new DatabaseSync(file);
  raw.exec('BEGIN IMMEDIATE');
  const early = store.append(scriptCalls('a', 1)).catch((thrown: unknown) => thrown);
  vi.advanceTimersByTime(2_500);
  const late = store.append(scriptCalls('b', 1));
  vi.advanceTimersByTime(2_500);
  expect(await early).toMatchObject({ code: 'store-io', message: expect.stringContaining('locked') });
  raw.exec('ROLLBACK');
  raw.close();
  expect(await late).toBe(0);
  expect(await store.findRun('a')).toBeUndefined();
});
