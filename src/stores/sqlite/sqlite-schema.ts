import type { DatabaseSync } from 'node:sqlite';

import { sqliteModule } from '../../core/node/sqlite-module.ts';
import { CoxswainError } from '../../core/base/error.ts';
import { hashText } from '../../core/base/hash.ts';
import { inOneView } from './sqlite-statements.ts';

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
 * Checks that a database is a store or empty. Reads only the schema.
 *
 * @param file  for error messages
 * @returns false for an empty database
 * @throws CoxswainError `store-version` for a database of another program or layout, `store-schema` for one with anything but the
 *   tables and indexes of a store: a foreign trigger would run with our statements
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
  /** Type, name, table and SQL, as JSON. */
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
export function createSchema(database: DatabaseSync, file: string): void {
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
