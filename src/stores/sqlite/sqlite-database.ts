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
import { isNotADatabase, toStoreError } from '../../core/store/store-error.ts';
import { Buffer } from 'node:buffer';
import { tmpdir } from 'node:os';
import { pathToFileURL } from 'node:url';
import { createSqliteSession, type SqliteSession } from './sqlite-reads.ts';
import { hashText } from '../../core/base/hash.ts';
import { inOneView } from './sqlite-statements.ts';

/** Earlier releases could lose the contents of the write-ahead log when it was reset. */
const OLDEST_SQLITE = '3.51.3';

/**
 * A missing store is created for its owner only (file 0600, folders 0700); any other file is left unchanged. The
 * connection does not wait for locks.
 *
 * @throws CoxswainError `store-version`, `store-schema`, `store-io`
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
 * A foreign file may be hostile. The exact schema (`isStore`) rules out triggers, views and functions that would run
 * with our statements; readers require strictly ascending rows, so that a circular B-tree ends a read.
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
 * SQLite opens these files by itself: a named pipe would block forever, and a journal may name another file, which
 * SQLite deletes. A store has a journal only during creation.
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
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0) {
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

/** Changes with every write: first the log's stamps, and at a checkpoint the file's. */
function readStamps(path: string): readonly (bigint | undefined)[] {
  const file = statSync(path, { bigint: true, throwIfNoEntry: false });
  const log = statSync(`${path}-wal`, { bigint: true, throwIfNoEntry: false });
  // An empty log counts as none: a writer that opens the store creates one.
  const usedLog = log?.size === 0n ? undefined : log;
  return [file?.ino, file?.size, file?.mtimeNs, usedLog?.ino, usedLog?.size, usedLog?.mtimeNs];
}

/** "Coxs" in ASCII, the `PRAGMA application_id` of every store. */
const APPLICATION_ID = 0x436f7873;

/** The store layout (`PRAGMA user_version`). Not the schema version of the records. */
export const LAYOUT = 4;

/**
 * The tables of a store. `SCHEMA_HASH` is the hash of this exact text.
 *
 * - Records have row ids: without them, the file was 3.3 times larger and appends 2.5 times slower (records of 1 KB). VACUUM keeps
 *   the ids, so the search index can refer to them.
 * - `minus_started_ms` makes the listing order one ascending index. Queried fields are columns; the rest of a summary is JSON,
 *   which keeps ill-formed text. `chars`, the length of a run's records, gives its share of the file.
 * - The search index is `record_words` and, for the order of hits, `indexed_records`. It lags behind (`indexing.through_id`), and
 *   one process at a time fills it (`owner` until `until_ms`). A removal deletes from both, increments `removals` and lowers
 *   `through_id` to the highest remaining id in the same transaction, so that ids can be reused. (AUTOINCREMENT would make inserts
 *   a fifth slower.) `unchecked_through_id` is unused.
 * - Runs in `removed_runs` are hidden while their rows are deleted in steps. `SqliteRemovals` explains the FTS5 setting.
 * - Each row of records, runs and snapshots has a checksum (`rowChecksums`).
 */
const SCHEMA = `
  CREATE TABLE runs (
    run_id TEXT NOT NULL PRIMARY KEY,
    minus_started_ms REAL NOT NULL,
    summary TEXT NOT NULL
  , chars INTEGER NOT NULL DEFAULT 0, checksum INTEGER) STRICT;
  CREATE INDEX runs_newest_first ON runs (minus_started_ms, run_id);
  CREATE TABLE records (
    id INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    json TEXT NOT NULL, checksum INTEGER,
    UNIQUE (run_id, seq)
  ) STRICT;
  CREATE TABLE snapshots (
    run_id TEXT NOT NULL PRIMARY KEY,
    covers_seq INTEGER NOT NULL,
    json TEXT NOT NULL
  , checksum INTEGER) STRICT;
  CREATE TABLE indexed_records (
    id INTEGER PRIMARY KEY,
    minus_at_ms REAL NOT NULL,
    run_id TEXT NOT NULL,
    minus_seq INTEGER NOT NULL,
    kind TEXT NOT NULL
  ) STRICT;
  CREATE VIRTUAL TABLE record_words USING fts5 (words, content = '', contentless_delete = 1, tokenize = 'ascii');
  CREATE TABLE indexing (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    through_id INTEGER NOT NULL,
    removals INTEGER NOT NULL,
    owner TEXT NOT NULL,
    until_ms REAL NOT NULL
  , unchecked_through_id INTEGER NOT NULL DEFAULT 0) STRICT;
  INSERT INTO indexing VALUES (1, 0, 0, '', 0, 0);
  CREATE TABLE removed_runs (run_id TEXT NOT NULL PRIMARY KEY) STRICT;
  INSERT INTO record_words (record_words, rank) VALUES ('deletemerge', 0);
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${LAYOUT};
`;

/** Hash of `sqlite_schema`. A constant, because computing it needs an in-memory database; a test compares it with `SCHEMA`. */
const SCHEMA_HASH = '4ed0ca29ea9f2d90';

/**
 * Reads only the schema.
 *
 * @returns false for an empty database
 * @throws CoxswainError `store-version` for another program or layout, `store-schema` for anything but a store's
 * tables and indexes: a foreign trigger would run with our statements
 */
export function isStore(database: DatabaseSync, file: string): boolean {
  // Another process may create the schema in between.
  return inOneView(database, () => checkSchema(database, file));
}

function checkSchema(database: DatabaseSync, file: string): boolean {
  const applicationId = readNumber(database, 'PRAGMA application_id');
  const layout = readNumber(database, 'PRAGMA user_version');
  if (applicationId === APPLICATION_ID) {
    if (layout === LAYOUT) {
      requireExactSchema(database, file);
      return true;
    }
    const instruction = layout > LAYOUT ? 'update coxswain to open it' : 'choose another file for the store';
    throw new CoxswainError(
      'store-version',
      `${file} has store layout ${layout}, this version of coxswain reads layout ${LAYOUT}; ${instruction}`,
      { details: { layout, supported: LAYOUT } },
    );
  }
  if (
    applicationId === 0 &&
    layout === 0 &&
    readNumber(database, 'SELECT count(*) AS value FROM sqlite_schema') === 0
  ) {
    return false;
  }
  throw new CoxswainError(
    'store-version',
    `${file} is a database of another program; choose another file for the store`,
    { details: { applicationId } },
  );
}

interface SchemaObject {
  readonly name: string;
  readonly text: string;
}

function readSchema(database: DatabaseSync): readonly SchemaObject[] {
  const rows = database.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema').all();
  return rows
    .map((row) => ({
      name: `${String(row['type'])} ${String(row['name'])}`,
      text: JSON.stringify([row['type'], row['name'], row['tbl_name'], row['sql']]),
    }))
    .toSorted((a, b) => (a.text < b.text ? -1 : 1));
}

function requireExactSchema(database: DatabaseSync, file: string): void {
  const schema = readSchema(database);
  if (hashText(schema.map(({ text }) => text).join('\n')) === SCHEMA_HASH) return;
  throw new CoxswainError(
    'store-schema',
    `${file} is not opened: ${describeDifference(schema, readSchema(createEmptyStore()))}; a store has exactly the tables and ` +
      'indexes that coxswain created. To copy its records into a new store: ' +
      `sqlite3 ${file} "SELECT json FROM records ORDER BY run_id, seq" | coxswain import - --store NEW`,
  );
}

function describeDifference(actual: readonly SchemaObject[], expected: readonly SchemaObject[]): string {
  const extra = actual.find((item) => !expected.some(({ text }) => text === item.text));
  const missing = expected.find((item) => !actual.some(({ text }) => text === item.text));
  const isAltered = extra !== undefined && expected.some(({ name }) => name === extra.name);
  if (isAltered) return `its ${extra.name} was altered`;
  return extra === undefined ? `its ${missing?.name ?? 'schema'} is missing` : `it contains a foreign ${extra.name}`;
}

export function createEmptyStore(): DatabaseSync {
  const database = new (sqliteModule().DatabaseSync)(':memory:');
  database.exec(SCHEMA);
  return database;
}

/** Creates the schema in an empty database. Waits, as the connection does, for another process that creates it too. */
function createSchema(database: DatabaseSync, file: string): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have created it meanwhile.
    if (!isStore(database, file)) database.exec(SCHEMA);
    database.exec('COMMIT');
  } catch (thrown) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw thrown;
  }
}

function readNumber(database: DatabaseSync, sql: string): number {
  return Number(Object.values(database.prepare(sql).get() ?? {})[0]);
}
