import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';

import { sqliteModule } from '../../core/node/sqlite-module.ts';
import { CoxswainError } from '../../core/base/error.ts';
import { makeFolderSync } from '../make-folder-sync.ts';
import { makeDataFolder } from '../../core/node/git-folder.ts';
import { GUARDED_OPTIONS, applyGuardPragmas, refuseForeignSideFiles } from './sqlite-hardening.ts';
import { createSchema, isStore } from './sqlite-schema.ts';
import { isNotADatabase, toStoreError } from '../../core/store/store-error.ts';

/** Earlier releases could lose the contents of the write-ahead log when it was reset. */
const OLDEST_SQLITE = '3.51.3';

/**
 * Opens a store, or creates a missing one for its owner only (file 0600, folders 0700). Any other file is refused and left
 * unchanged. The returned connection does not wait for locks.
 *
 * @param options  `timeoutMs`: how long opening waits for other processes
 * @throws CoxswainError `store-version` if SQLite is too old, or the file is not a database, another program's, or of another
 *   layout; `store-schema` if it contains anything but a store's tables; `store-io` for a refusal of the file system or SQLite
 */
export function openSqliteDatabase(
  file: string,
  { timeoutMs, synchronous }: { readonly timeoutMs: number; readonly synchronous: 'FULL' | 'NORMAL' },
): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    createPrivateFile(file);
    refuseForeignSideFiles(file);
    database = new (sqliteModule().DatabaseSync)(file, { ...GUARDED_OPTIONS, timeout: timeoutMs });
    applyGuardPragmas(database);
    requireSqlite(process.versions['sqlite'] ?? readText(database, 'SELECT sqlite_version() AS value'));
    const isEmpty = !isStore(database, file);
    // SQLite can return free space only if this is set while the file is empty.
    if (isEmpty) database.exec('PRAGMA auto_vacuum = INCREMENTAL');
    // WAL mode is stored in the file; the other settings apply to this connection.
    const journal = readText(database, 'PRAGMA journal_mode = WAL');
    if (journal !== 'wal') {
      throw new CoxswainError(
        'store-io',
        `${file} cannot have a write-ahead log (its journal is ${journal}); put it on a local disk`,
      );
    }
    database.exec(`PRAGMA synchronous = ${synchronous}`);
    if (isEmpty) createSchema(database, file);
    // With a timeout, SQLite would block the thread, with pauses of up to 100 ms. The store waits in its own code instead.
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
  const oldestParts = OLDEST_SQLITE.split('.').map(Number);
  const actualParts = version.split('.').map(Number);
  for (const [index, minimum] of oldestParts.entries()) {
    const difference = (actualParts[index] ?? 0) - minimum;
    if (difference > 0) return;
    if (difference < 0 || Number.isNaN(difference)) {
      throw new CoxswainError(
        'store-version',
        `SQLite ${version} can lose records; ${OLDEST_SQLITE} or later is required, as in Node 22.23.3 and 24`,
        { details: { version, oldest: OLDEST_SQLITE } },
      );
    }
  }
}

/** SQLite would create a world-readable file; the log takes its mode from the file. */
function createPrivateFile(file: string): void {
  makeDataFolder(file, { env: process.env });
  makeFolderSync(dirname(file));
  // A link would create a file elsewhere, and opening a named pipe would block.
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;
  const fd = openSync(file, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  try {
    if (!fstatSync(fd).isFile()) throw new CoxswainError('store-io', `${file} is not a file; choose another place`);
  } finally {
    closeSync(fd);
  }
}

function readText(database: DatabaseSync, sql: string): string {
  return String(Object.values(database.prepare(sql).get() ?? {})[0]);
}
