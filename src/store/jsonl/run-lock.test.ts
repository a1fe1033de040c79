import { mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { testFolder } from '../../../test/support/test-folder.ts';
import { takeRunLock } from './run-lock.ts';

async function newFolder(): Promise<string> {
  const folder = testFolder();
  return folder;
}

test('one of many concurrent callers gets the lock, and each other caller once it is released', async () => {
  const folder = await newFolder();
  let holders = 0;
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      const lock = await takeRunLock(folder, 60_000);
      holders += 1;
      expect(holders).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      holders -= 1;
      lock.release();
    }),
  );
  expect((await stat(join(folder, 'lock'))).mode & 0o777).toBe(0o600);
});

test('a lock that another writer holds is store-io, with the folder', async () => {
  const folder = await newFolder();
  const lock = await takeRunLock(folder, 0);
  const locked = { code: 'store-io', message: expect.stringContaining(folder), details: { folder } };
  await expect(takeRunLock(folder, 0)).rejects.toMatchObject(locked);
  lock.release();
  (await takeRunLock(folder, 0)).release();
});

test('a link, folder or database in place of the lock is refused and unchanged', async () => {
  const makers: readonly ((path: string) => Promise<unknown>)[] = [
    (path) => symlink('elsewhere', path),
    (path) => mkdir(path),
    (path) => writeFile(path, 'SQLite format 3'),
  ];
  for (const make of makers) {
    const folder = await newFolder();
    await make(join(folder, 'lock'));
    const refused = { code: 'store-io', message: expect.stringContaining('not a lock of coxswain') };
    await expect(takeRunLock(folder, 0)).rejects.toMatchObject(refused);
    await expect(stat(join(folder, 'elsewhere'))).rejects.toThrow('ENOENT');
  }
});
