import { chmod, lstat } from 'node:fs/promises';
import { join } from 'node:path';

import { sqliteModule } from '../../base/sqlite-module.ts';
import { CoxswainError } from '../../base/error.ts';
import { isBusy, whileBusy } from '../sqlite-busy.ts';

/** The right to write a run. */
export interface RunLock {
  release(): void;
}

const LOCK_FILE = 'lock';

/**
 * Takes the lock of a run: an exclusive SQLite transaction on an empty file, which is never written. The operating system
 * releases it when the process ends, however it ends.
 *
 * @param folder  the run's folder, which exists
 * @param waitMs  maximum time to wait for another writer, in milliseconds
 * @throws CoxswainError `store-io` if another writer still holds it then, or if the file is not such a lock; what the file
 *   system throws
 */
export async function takeRunLock(folder: string, waitMs: number): Promise<RunLock> {
  const path = join(folder, LOCK_FILE);
  const facts = await lstat(path).catch(() => undefined);
  if (facts !== undefined && (!facts.isFile() || facts.size > 0)) {
    throw new CoxswainError('store-io', `${path} is not a lock of coxswain; move it away to append to this run`);
  }
  const database = new (sqliteModule().DatabaseSync)(path, { timeout: 0 });
  try {
    await whileBusy(() => database.exec('BEGIN EXCLUSIVE'), waitMs);
    if (facts === undefined) await chmod(path, 0o600);
  } catch (thrown) {
    database.close();
    if (!isBusy(thrown)) throw thrown;
    const message = `${folder} is being written by another writer; give each writer its own run`;
    throw new CoxswainError('store-io', message, { details: { folder } });
  }
  return { release: () => database.close() };
}
