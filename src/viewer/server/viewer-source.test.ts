import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { testFolder } from '../../../test/support/test-folder.ts';
import { openSqliteReader } from '../../stores/sqlite/sqlite-reader.ts';
import { sqliteStore } from '../../stores/sqlite/sqlite-store.ts';
import { ViewerSource } from './viewer-source.ts';

async function makeStore(file: string, tasks: readonly string[]): Promise<void> {
  const store = sqliteStore(file);
  for (const [at, task] of tasks.entries()) {
    const place = { run_id: `run-${at}`, depth: 0 };
    const payload = { kind: 'run_started', identity: place, task } as const;
    await store.append([{ schema_version: 1, seq: 0, ...place, recorded_at_unix_ms: 1, payload }]);
  }
  await store.close();
}

test('tasks of a store that was replaced do not shorten the titles of the next one', async () => {
  const folder = testFolder();
  const [file, next] = [join(folder, 'runs.db'), join(folder, 'next.db')];
  await makeStore(file, ['Fix it.\na', 'Fix it.\nb', 'Fix it.\nc']);
  await makeStore(next, ['Fix it.\nalone']);
  const source = new ViewerSource({ id: '0', path: file, kind: 'sqlite', open: async () => openSqliteReader(file) });
  const titles = (): readonly string[] => [...source.runs.values()].map((run) => source.titleOf(run)).toSorted();
  await source.refresh();
  expect(titles()).toEqual(['Fix it. a', 'Fix it. b', 'Fix it. c']);
  for (const end of ['-wal', '-shm']) await rm(`${file}${end}`, { force: true });
  await rename(next, file);
  while (source.runs.size !== 1) {
    await source.refresh();
    await new Promise(setImmediate);
  }
  expect(titles()).toEqual(['Fix it.']);
  await source.close();
});
