import type { DatabaseSync } from 'node:sqlite';

import { sqliteModule } from '../../base/sqlite-module.ts';
import { CoxswainError } from '../../base/error.ts';
import { hashText } from '../../base/hash.ts';

/** "Coxs" in ASCII: tells a database of coxswain from any other (`PRAGMA application_id`). */
const APPLICATION_ID = 0x436f7873;

/** The layout of every store: `PRAGMA user_version`. Not the schema version of the records. */
export const LAYOUT = 4;

/**
 * The tables of a store, in the exact text by which `SCHEMA_PRINT` knows them.
 *
 * - Records have row ids: with records of 1 KB, without them the file was 3.3 times as large and appends 2.5 times slower. The ids stay
 *   when the file is vacuumed, so that the search index can stand on them.
 * - `minus_started_ms` makes the listing order one ascending index. What is searched is a column, the rest of a summary is JSON,
 *   where text that is not well-formed survives. `chars` is the length of a run's records, which gives its share of the file.
 * - The index is `record_words` and, for the order of hits, `indexed_records`: it lags behind (`indexing.through_id`), and one
 *   process at a time fills it (`owner` until `until_ms`). Whoever removes records removes them from both too, counts `removals` and
 *   lowers `through_id` to the highest id left, all in one transaction: then an id may come again. (AUTOINCREMENT instead makes an
 *   insert a fifth slower.) `unchecked_through_id` is unused.
 * - Runs in `removed_runs` are out of sight, and their rows are removed in steps (`SqliteRemovals`, which also says why FTS5 is told
 *   not to merge after removals).
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

/**
 * The fingerprint of `sqlite_schema`: every table and index with its SQL. Written down because working it out takes a database in
 * memory, which a hook has no time for; a test compares it with `SCHEMA`.
 */
const SCHEMA_PRINT = '4ed0ca29ea9f2d90';

/**
 * Checks that a database is a store or empty. Reads nothing but the schema.
 *
 * @param file  for the message
 * @returns false for an empty database
 * @throws CoxswainError `store-version` for a database of another program or of another layout, `store-schema` for one that
 *   holds anything but the tables and indexes of a store: a trigger of a foreign file would run with our statements
 */
export function isStore(database: DatabaseSync, file: string): boolean {
  if (database.isTransaction) return checkSchema(database, file);
  // One view for all that is read: between two readings another process may make a store of an empty file.
  database.exec('BEGIN');
  try {
    return checkSchema(database, file);
  } finally {
    // SQLite has ended it by itself after some faults, such as a full disk, which should be told.
    if (database.isTransaction) database.exec('COMMIT');
  }
}

function checkSchema(database: DatabaseSync, file: string): boolean {
  const application = number(database, 'PRAGMA application_id');
  const layout = number(database, 'PRAGMA user_version');
  if (application === APPLICATION_ID) {
    if (layout === LAYOUT) {
      requireExactSchema(database, file);
      return true;
    }
    const todo = layout > LAYOUT ? 'update coxswain to open it' : 'choose another file for the store';
    throw new CoxswainError(
      'store-version',
      `${file} has store layout ${layout}, this version of coxswain reads layout ${LAYOUT}; ${todo}`,
      { details: { layout, supported: LAYOUT } },
    );
  }
  if (application === 0 && layout === 0 && number(database, 'SELECT count(*) AS value FROM sqlite_schema') === 0) {
    return false;
  }
  throw new CoxswainError(
    'store-version',
    `${file} is a database of another program; choose another file for the store`,
    { details: { applicationId: application } },
  );
}

/** An object of a database, as `sqlite_schema` describes it. */
interface SchemaObject {
  readonly name: string;
  /** Its type, name, table and SQL. */
  readonly text: string;
}

function schemaOf(database: DatabaseSync): readonly SchemaObject[] {
  const rows = database.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema').all();
  return rows
    .map((row) => ({
      name: `${String(row['type'])} ${String(row['name'])}`,
      text: JSON.stringify([row['type'], row['name'], row['tbl_name'], row['sql']]),
    }))
    .toSorted((a, b) => (a.text < b.text ? -1 : 1));
}

function schemaPrint(database: DatabaseSync): string {
  return hashText(
    schemaOf(database)
      .map(({ text }) => text)
      .join('\n'),
  );
}

function requireExactSchema(database: DatabaseSync, file: string): void {
  if (schemaPrint(database) === SCHEMA_PRINT) return;
  throw new CoxswainError(
    'store-schema',
    `${file} is not opened: ${differenceOf(schemaOf(database), schemaOf(emptyStore()))}; a store has exactly the tables and ` +
      'indexes that coxswain made. coxswain recover saves its records into a new store',
  );
}

function differenceOf(found: readonly SchemaObject[], wanted: readonly SchemaObject[]): string {
  const extra = found.find((one) => !wanted.some(({ text }) => text === one.text));
  const missing = wanted.find((one) => !found.some(({ text }) => text === one.text));
  const isAltered = extra !== undefined && wanted.some(({ name }) => name === extra.name);
  if (isAltered) return `its ${extra.name} was altered`;
  return extra === undefined ? `its ${missing?.name ?? 'schema'} is missing` : `it holds a foreign ${extra.name}`;
}

/** A store in memory, without runs. Exported for tests. */
export function emptyStore(): DatabaseSync {
  const database = new (sqliteModule().DatabaseSync)(':memory:');
  database.exec(SCHEMA);
  return database;
}

/** Makes a store of an empty database. Waits, as the connection does, for another process that does the same. */
export function createSchema(database: DatabaseSync, file: string): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have made it while this one waited for its turn.
    if (!isStore(database, file)) database.exec(SCHEMA);
    database.exec('COMMIT');
  } catch (thrown) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw thrown;
  }
}

function number(database: DatabaseSync, sql: string): number {
  return Number(Object.values(database.prepare(sql).get() ?? {})[0]);
}
