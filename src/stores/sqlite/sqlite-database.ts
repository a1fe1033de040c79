import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  lstatSync,
  readSync,
  copyFileSync,
  mkdtempSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, basename, join } from 'node:path';
import type { DatabaseSync, DatabaseSyncOptions } from 'node:sqlite';
import { sqliteModule } from '../../core/node/sqlite-module.ts';
import { CoxswainError, hasCode } from '../../core/base/error.ts';
import { makeFolderSync } from '../collect-garbage.ts';
import { makeDataFolder } from '../../core/node/git-folder.ts';
import { createSchema, isStore } from './sqlite-schema.ts';
import { isNotADatabase, toStoreError } from '../../core/store/store-error.ts';
import { Buffer } from 'node:buffer';
import { tmpdir } from 'node:os';
import { pathToFileURL } from 'node:url';
import { createSqliteSession, type SqliteSession } from './sqlite-reads.ts';

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

/** The length of V8's longest string. No longer value was ever written. */
const MAX_VALUE_BYTES = 512 * 1024 * 1024;

/**
 * Options for every database, because a foreign file may be hostile. The exact schema (`isStore`) rules out triggers, views and
 * functions that would run with our statements; readers require strictly ascending rows, so that a circular B-tree ends a read.
 */
const GUARDED_OPTIONS: DatabaseSyncOptions = {
  defensive: true,
  enableForeignKeyConstraints: false,
  limits: { length: MAX_VALUE_BYTES, attach: 0 },
};

/** Sets the options that only SQL can set. Call this function first; none of these settings reads the file. */
function applyGuardPragmas(database: DatabaseSync): void {
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
function refuseForeignSideFiles(file: string): void {
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

export interface ReadOnlyDatabase {
  readonly session: SqliteSession;
  /** False if a writer changed the file in a way that this connection cannot see: discard the last read and open it again. */
  isCurrent(): boolean;
  close(): void;
}

/**
 * Opens a database without changing anything in its folder:
 *
 * - Without a log (`-wal`), or with an empty one: as `immutable`, without locks or new files. `isCurrent` detects changes after
 *   each read.
 * - With a log and its shared memory: shared with other processes, with the memory mapped read-only. (SQLite maps it once per
 *   process, so a process that also writes must open the writer first.)
 * - With a log alone, as in a copied store: SQLite would create the shared memory, so a copy in a temporary folder is read.
 *
 * @throws CoxswainError `store-io` if the file is missing or cannot be opened, `store-version` and
 *   `store-schema` as `isStore` and for an empty file, `store-damaged`
 */
export function openReadOnly(path: string, { timeoutMs }: { readonly timeoutMs: number }): ReadOnlyDatabase {
  refuseForeignSideFiles(path);
  const stampsBefore = readStamps(path);
  const isChanged = (): boolean => !readStamps(path).every((stamp, index) => stamp === stampsBefore[index]);
  if (logBytes(path) === 0) {
    return wrapReadOnly(openSession(path, 'immutable=1', { path, timeoutMs }), { isCurrent: () => !isChanged() });
  }
  if (statSync(`${path}-shm`, { throwIfNoEntry: false }) !== undefined) {
    return wrapReadOnly(openSession(path, 'mode=ro&readonly_shm=1', { path, timeoutMs }), { isCurrent: () => true });
  }
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-read-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  const cleanUp = (): void => {
    process.removeListener('exit', remove);
    remove();
  };
  try {
    const copy = join(folder, basename(path));
    for (const suffix of ['', '-wal']) copyFileSync(`${path}${suffix}`, `${copy}${suffix}`, constants.COPYFILE_FICLONE);
    return wrapReadOnly(openSession(copy, 'mode=ro', { path, timeoutMs }), { isCurrent: () => !isChanged(), cleanUp });
  } catch (thrown) {
    cleanUp();
    throw toStoreError(thrown, `open ${path}`);
  }
}

function wrapReadOnly(
  session: SqliteSession,
  { isCurrent, cleanUp }: { readonly isCurrent: () => boolean; readonly cleanUp?: () => void },
): ReadOnlyDatabase {
  return {
    session,
    isCurrent,
    close() {
      if (session.database.isOpen) session.database.close();
      cleanUp?.();
    },
  };
}

/** @param path  for error messages, also if `file` is a copy */
function openSession(
  file: string,
  query: string,
  { path, timeoutMs }: { readonly path: string; readonly timeoutMs: number },
): SqliteSession {
  const url = pathToFileURL(file);
  url.search = query;
  let database: DatabaseSync | undefined;
  try {
    database = new (sqliteModule().DatabaseSync)(url, { ...GUARDED_OPTIONS, readOnly: true, timeout: timeoutMs });
    applyGuardPragmas(database);
    if (!isStore(database, path))
      throw new CoxswainError('store-version', `${path} is empty; record into it once to read it`);
    database.exec('PRAGMA busy_timeout = 0');
    return createSqliteSession(database);
  } catch (thrown) {
    if (database?.isOpen === true) database.close();
    throw isNotADatabase(thrown)
      ? new CoxswainError('store-version', `${path} is not an SQLite database; give the file of a store`, {
          cause: thrown,
        })
      : toStoreError(thrown, `open ${path}`);
  }
}

function logBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

/** Changes with every write: first the log's stamps, and at a checkpoint the file's. */
function readStamps(path: string): readonly (bigint | undefined)[] {
  const file = statSync(path, { bigint: true, throwIfNoEntry: false });
  const log = statSync(`${path}-wal`, { bigint: true, throwIfNoEntry: false });
  // An empty log counts as none: a writer that opens the store creates one.
  const usedLog = log?.size === 0n ? undefined : log;
  return [file?.ino, file?.size, file?.mtimeNs, usedLog?.ino, usedLog?.size, usedLog?.mtimeNs];
}
