import { expect, onTestFinished, test } from 'vitest';

import { allOf, readAll } from '../../testing/read-all.ts';
import { runScript } from '../../../test/support/run-script.ts';
import { tempFolder } from '../../../test/support/temp-folder.ts';
import { jsonlStore } from './jsonl-store.ts';

const PROCESSES = 6;
const TRANSACTIONS = 40;

/** As a hook does: short transactions on a run that it shares. A store is opened for each fourth of them. */
const HOOK = `
  import { jsonlStore } from ${JSON.stringify(new URL('./jsonl-store.ts', import.meta.url).href)};
  const [, folder, name] = process.argv;
  let store;
  for (let turn = 0; turn < ${TRANSACTIONS}; turn += 1) {
    if (turn % 4 === 0) {
      await store?.close();
      store = jsonlStore(folder, { lock: { waitMs: 60_000 } });
    }
    await store.transact('shared', ({ nextSeq, snapshot, snapshotSeq, missed }) => {
      const counts = snapshot ?? {};
      if (snapshotSeq !== nextSeq - 1 || missed().length > 0) throw new Error('half a transaction');
      const payload = { kind: 'compaction', trigger: name };
      const record = { schema_version: 1, seq: nextSeq, run_id: 'shared', depth: 0, recorded_at_unix_ms: 1, payload };
      return { records: [record], snapshot: { ...counts, [name]: (counts[name] ?? 0) + 1 }, result: 0 };
    });
  }
  await store.close();`;

test('processes that transact on one run at a time lose nothing of each other', async () => {
  const folder = await tempFolder();
  onTestFinished(() => folder.dispose());
  const names = Array.from({ length: PROCESSES }, (_, index) => `p${index}`);
  const ends = await Promise.all(names.map((name) => runScript(HOOK, [folder.path, name]).ended));
  expect(ends.map(({ stderr }) => stderr)).toEqual(names.map(() => ''));
  const store = jsonlStore(folder.path);
  expect(await readAll(store, 'shared')).toHaveLength(PROCESSES * TRANSACTIONS);
  const counts = await store.transact('shared', ({ snapshot }) => ({ records: [], result: snapshot }));
  expect(counts).toEqual(Object.fromEntries(names.map((name) => [name, TRANSACTIONS])));
  expect(await allOf(store.verify())).toEqual([]);
  await store.close();
});

test('a run whose writer was killed while it held the lock is taken over at once', async () => {
  const folder = await tempFolder();
  onTestFinished(() => folder.dispose());
  const script = `
    import { jsonlStore } from ${JSON.stringify(new URL('./jsonl-store.ts', import.meta.url).href)};
    const store = jsonlStore(process.argv[1]);
    const payload = { kind: 'turn_started' };
    await store.append([{ schema_version: 1, seq: 0, run_id: 'a', depth: 0, recorded_at_unix_ms: 1, payload }]);
    process.stdout.write('stored');
    setInterval(() => undefined, 1000);`;
  const { child, ended } = runScript(script, [folder.path]);
  await new Promise((resolve) => child.stdout?.once('data', resolve));
  const store = jsonlStore(folder.path, { lock: { waitMs: 0 } });
  const next = [{ ...(await readAll(store, 'a'))[0], seq: 1 }] as unknown as Parameters<typeof store.append>[0];
  const held = { code: 'store-io', message: expect.stringContaining(`process ${child.pid} on `) };
  await expect(store.append(next)).rejects.toMatchObject(held);
  child.kill('SIGKILL');
  await ended;
  expect(await store.append(next)).toBe(1);
  await store.close();
});
