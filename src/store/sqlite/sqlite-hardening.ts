import { Buffer } from 'node:buffer';
import { closeSync, constants, lstatSync, openSync, readSync } from 'node:fs';
import type { DatabaseSync, DatabaseSyncOptions } from 'node:sqlite';

import { CoxswainError } from '../../base/error.ts';

/** V8 holds no longer string, so nothing longer was ever written. */
const MAX_VALUE_BYTES = 512 * 1024 * 1024;

/**
 * How every database is opened: one that somebody else made may be built to harm. What it can do is bounded by the exact schema
 * (`isStore`): no trigger, view or foreign function runs with our statements. Readers take rows in strictly rising order, so
 * that a tree which leads in circles ends a read instead of prolonging it.
 */
export const GUARDED: DatabaseSyncOptions = {
  defensive: true,
  enableForeignKeyConstraints: false,
  limits: { length: MAX_VALUE_BYTES, attach: 0 },
};

/** The settings that only SQL has. Before anything else: none of them reads the file. */
export function guard(database: DatabaseSync): void {
  database.exec('PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0');
}

/** Ends a rollback journal that names another file. */
const SUPER_JOURNAL_MARK = Buffer.from('d9d505f920a163d7', 'hex');

/**
 * Looks at the files beside a database that SQLite would open by itself. A named pipe there would be waited for without end. A
 * rollback journal may name another file, which SQLite deletes once it has rolled back, whatever file that is: a store has a
 * journal only while it is made, and never one that names another.
 *
 * @throws CoxswainError `store-schema`
 */
export function refuseOddCompanions(file: string): void {
  for (const end of ['-wal', '-shm', '-journal']) {
    const facts = lstatSync(`${file}${end}`, { throwIfNoEntry: false });
    if (facts === undefined) continue;
    if (!facts.isFile()) throw foreign(`${file}${end} is not a file`);
    if (end === '-journal' && namesAnotherFile(`${file}${end}`, facts.size)) {
      throw foreign(`${file}${end} names a file that SQLite would delete`);
    }
  }
}

function namesAnotherFile(journal: string, bytes: number): boolean {
  if (bytes < SUPER_JOURNAL_MARK.length) return false;
  const mark = Buffer.alloc(SUPER_JOURNAL_MARK.length);
  const fd = openIfThere(journal);
  if (fd === undefined) return false;
  try {
    readSync(fd, mark, 0, mark.length, bytes - mark.length);
  } finally {
    closeSync(fd);
  }
  return mark.equals(SUPER_JOURNAL_MARK);
}

/** Undefined when the process that made the store has finished with it meanwhile. */
function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return undefined;
    throw thrown;
  }
}

function foreign(problem: string): CoxswainError {
  return new CoxswainError('store-schema', `${problem}; coxswain did not make it, remove it`);
}
