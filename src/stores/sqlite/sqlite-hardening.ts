import { Buffer } from 'node:buffer';
import { closeSync, constants, lstatSync, openSync, readSync } from 'node:fs';
import type { DatabaseSync, DatabaseSyncOptions } from 'node:sqlite';

import { CoxswainError, hasCode } from '../../core/base/error.ts';

/** The length of V8's longest string. No longer value was ever written. */
const MAX_VALUE_BYTES = 512 * 1024 * 1024;

/**
 * Options for every database, because a foreign file may be hostile. The exact schema (`isStore`) rules out triggers, views and
 * functions that would run with our statements; readers require strictly ascending rows, so that a circular B-tree ends a read.
 */
export const GUARDED_OPTIONS: DatabaseSyncOptions = {
  defensive: true,
  enableForeignKeyConstraints: false,
  limits: { length: MAX_VALUE_BYTES, attach: 0 },
};

/** Sets the options that only SQL can set. Call this function first; none of these settings reads the file. */
export function applyGuardPragmas(database: DatabaseSync): void {
  database.exec('PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0');
}

/** The last bytes of a rollback journal that names another file. */
const SUPER_JOURNAL_MARK = Buffer.from('d9d505f920a163d7', 'hex');

/**
 * Checks the files next to a database that SQLite opens by itself. Opening a named pipe would block forever. A rollback journal
 * may name another file, which SQLite deletes after the rollback; a store only has a journal during creation, and never one that
 * names another file.
 *
 * @throws CoxswainError `store-schema`
 */
export function refuseForeignSideFiles(file: string): void {
  for (const suffix of ['-wal', '-shm', '-journal']) {
    const facts = lstatSync(`${file}${suffix}`, { throwIfNoEntry: false });
    if (facts === undefined) continue;
    if (!facts.isFile()) throw createForeignFileError(`${file}${suffix} is not a file`);
    if (suffix === '-journal' && namesAnotherFile(`${file}${suffix}`, facts.size)) {
      throw createForeignFileError(`${file}${suffix} names a file that SQLite would delete`);
    }
  }
}

function namesAnotherFile(journal: string, bytes: number): boolean {
  if (bytes < SUPER_JOURNAL_MARK.length) return false;
  const mark = Buffer.alloc(SUPER_JOURNAL_MARK.length);
  const fd = openIfExists(journal);
  if (fd === undefined) return false;
  try {
    readSync(fd, mark, 0, mark.length, bytes - mark.length);
  } finally {
    closeSync(fd);
  }
  return mark.equals(SUPER_JOURNAL_MARK);
}

/** Returns undefined if the process that created the store has deleted the file meanwhile. */
function openIfExists(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT')) return undefined;
    throw thrown;
  }
}

function createForeignFileError(problem: string): CoxswainError {
  return new CoxswainError('store-schema', `${problem}; coxswain did not create it; remove it`);
}
