import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';

import { sqliteModule } from '../../base/sqlite-module.ts';
import { CoxswainError } from '../../base/error.ts';
import { makeFolderSync } from '../make-folder-sync.ts';
import { openRecords } from '../records-folder.ts';
import { GUARDED, guard, refuseOddCompanions } from './sqlite-hardening.ts';
import { createSchema, isStore } from './sqlite-schema.ts';
import { isNotADatabase, toStoreError } from '../store-error.ts';

/** SQLite before this release could lose what was in the write-ahead log when it was reset. */
const OLDEST_SQLITE = '3.51.3';

/**
 * Opens a database of coxswain, or makes one for its owner only where there is none (file 0600, folders 0700).
 * A file that is anything else is refused and left as it is. The connection does not wait for locks.
 *
 * @param options  `timeoutMs`: how long opening waits for other processes
 *
 * @throws CoxswainError `store-version` when SQLite is too old, or the file is no database, another program's, or
 *   of another layout; `store-schema` when it holds anything but a store's tables; `store-io` for what the file system or SQLite refuses
 */
export function openSqliteDatabase(
  file: string,
  { timeoutMs, synchronous }: { readonly timeoutMs: number; readonly synchronous: 'FULL' | 'NORMAL' },
): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    createPrivately(file);
    refuseOddCompanions(file);
    database = new (sqliteModule().DatabaseSync)(file, { ...GUARDED, timeout: timeoutMs });
    guard(database);
    requireSqlite(process.versions['sqlite'] ?? text(database, 'SELECT sqlite_version() AS value'));
    const isEmpty = !isStore(database, file);
    // Only as long as a file is empty can it be made one that gives room back.
    if (isEmpty) database.exec('PRAGMA auto_vacuum = INCREMENTAL');
    // WAL is a property of the file; the rest, of this connection.
    const journal = text(database, 'PRAGMA journal_mode = WAL');
    if (journal !== 'wal') throw noWriteAheadLog(file, journal);
    database.exec(`PRAGMA synchronous = ${synchronous}`);
    if (isEmpty) createSchema(database, file);
    // SQLite would wait on the calling thread, and with pauses of up to 100 ms: the store waits by itself.
    database.exec('PRAGMA busy_timeout = 0');
    return database;
  } catch (thrown) {
    if (database?.isOpen === true) database.close();
    if (isNotADatabase(thrown)) {
      throw new CoxswainError('store-version', `${file} is not an SQLite database; choose another file for the store`, {
        cause: thrown,
      });
    }
    throw toStoreError(thrown, `open ${file}`);
  }
}

/** @throws CoxswainError `store-version` for a release older than 3.51.3 */
export function requireSqlite(version: string): void {
  const oldest = OLDEST_SQLITE.split('.').map(Number);
  const given = version.split('.').map(Number);
  for (const [index, part] of oldest.entries()) {
    const difference = (given[index] ?? 0) - part;
    if (difference > 0) return;
    if (difference < 0 || Number.isNaN(difference)) {
      throw new CoxswainError(
        'store-version',
        `SQLite ${version} can lose records; ${OLDEST_SQLITE} or later is needed, which Node 22.23.3 and 24 bring`,
        { details: { version, oldest: OLDEST_SQLITE } },
      );
    }
  }
}

/** SQLite would create the file for everyone to read; the log beside it takes its mode from the file. */
function createPrivately(file: string): void {
  openRecords(file, { env: process.env });
  makeFolderSync(dirname(file));
  // A link would make a file elsewhere, and a named pipe would be waited for.
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;
  const fd = openSync(file, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  try {
    if (!fstatSync(fd).isFile()) throw new CoxswainError('store-io', `${file} is not a file; choose another place`);
  } finally {
    closeSync(fd);
  }
}

function noWriteAheadLog(file: string, journal: string): CoxswainError {
  return new CoxswainError(
    'store-io',
    `${file} cannot have a write-ahead log (its journal is ${journal}); put it on a local disk`,
  );
}

function text(database: DatabaseSync, sql: string): string {
  return String(firstColumn(database, sql));
}

function firstColumn(database: DatabaseSync, sql: string): unknown {
  return Object.values(database.prepare(sql).get() ?? {})[0];
}
