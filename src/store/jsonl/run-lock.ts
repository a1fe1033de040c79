import { chmod, lstat } from 'node:fs/promises';
import { join } from 'node:path';

import { sqliteModule } from '../../base/sqlite-module.ts';
import { CoxswainError } from '../../base/error.ts';
import { isBusy, whileBusy } from '../sqlite-busy.ts';

/** The right to write a run. */
export interface RunLock {
  release(): void;
}

const NAME = 'lock';

/**
 * Takes the lock of a run whose folder exists: an exclusive transaction of SQLite on an empty file, which is never written. The
 * operating system frees it when its process ends, however that happens.
 *
 * @param waitMs  how long to wait for another writer, in milliseconds
 * @throws CoxswainError `store-io` when another writer still has it then, or when the file is not such a lock; what the file
 *   system throws
 */
export async function takeRunLock(folder: string, waitMs: number): Promise<RunLock> {
  const path = join(folder, NAME);
  const facts = await lstat(path).catch(() => undefined);
  if (facts !== undefined && (!facts.isFile() || facts.size > 0)) throw odd(path);
  const database = new (sqliteModule().DatabaseSync)(path, { timeout: 0 });
  try {
    await whileBusy(() => database.exec('BEGIN EXCLUSIVE'), waitMs);
    if (facts === undefined) await chmod(path, 0o600);
  } catch (thrown) {
    database.close();
    throw isBusy(thrown) ? held(folder) : thrown;
  }
  return { release: () => database.close() };
}

function odd(path: string): CoxswainError {
  return new CoxswainError('store-io', `${path} is no lock of coxswain; move it away to append to this run`);
}

function held(folder: string): CoxswainError {
  const message = `${folder} is being written by another writer; give each writer its own run`;
  return new CoxswainError('store-io', message, { details: { folder } });
}
