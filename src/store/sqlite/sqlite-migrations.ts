import type { DatabaseSync } from 'node:sqlite';

import { sqliteModule } from '../../base/sqlite-module.ts';
import { CoxswainError } from '../../base/error.ts';
import { hashText } from '../../base/hash.ts';

/** "Coxs" in ASCII: tells a database of coxswain from any other (`PRAGMA application_id`). */
const APPLICATION_ID = 0x436f7873;

/**
 * The steps from one layout to the next; `PRAGMA user_version` counts those that were taken. Steps are only ever added:
 * files of every earlier layout are about. Not the schema version of the records.
 *
 * 1. Records have row ids: with records of 1 KB, without them the file was 3.3 times as large and appends 2.5 times
 *    slower. `minus_started_ms` makes the listing order one ascending index. What is searched is a column, the rest of a
 *    summary is JSON, where text that is not well-formed survives.
 * 2. Ids that stay when the file is vacuumed, so that the search index can stand on them; no columns in `records` that an
 *    append can leave out; snapshots. The index is `record_words` and, for the order of hits, `indexed_records`: it lags
 *    behind (`indexing.through_id`), and one process at a time fills it (`owner` until `until_ms`). Who removes records
 *    removes them from both too, counts `removals` and lowers `through_id` to the highest id left, all in one
 *    transaction: then an id may come again. (AUTOINCREMENT instead makes an insert a fifth slower.)
 * 3. Deletion: what `removed_runs` names is out of sight, and its rows are removed in steps (`SqliteRemovals`, which also
 *    says why FTS5 is told not to merge after removals). `chars` is the length of a run's records, by which its part of the
 *    file is told.
 * 4. A checksum in each row of records, runs and snapshots (`rowChecksums`). Adding a column takes no time, whatever the size
 *    of the file; a row from before has no checksum, and that is allowed for records up to `indexing.unchecked_through_id`
 *    only, so that a damaged row never passes for an old one.
 */
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE runs (
    run_id TEXT NOT NULL PRIMARY KEY,
    minus_started_ms REAL NOT NULL,
    summary TEXT NOT NULL
  ) STRICT;
  CREATE INDEX runs_newest_first ON runs (minus_started_ms, run_id);
  CREATE TABLE records (
    run_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at_ms REAL NOT NULL,
    kind TEXT NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY (run_id, seq)
  ) STRICT;
  PRAGMA application_id = ${APPLICATION_ID};
  `,
  `
  ALTER TABLE records RENAME TO old_records;
  CREATE TABLE records (
    id INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    json TEXT NOT NULL,
    UNIQUE (run_id, seq)
  ) STRICT;
  INSERT INTO records (run_id, seq, json) SELECT run_id, seq, json FROM old_records ORDER BY rowid;
  DROP TABLE old_records;
  CREATE TABLE snapshots (
    run_id TEXT NOT NULL PRIMARY KEY,
    covers_seq INTEGER NOT NULL,
    json TEXT NOT NULL
  ) STRICT;
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
  ) STRICT;
  INSERT INTO indexing VALUES (1, 0, 0, '', 0);
  `,
  `
  ALTER TABLE runs ADD COLUMN chars INTEGER NOT NULL DEFAULT 0;
  UPDATE runs SET chars = (SELECT coalesce(sum(length(json)), 0) FROM records WHERE records.run_id = runs.run_id);
  CREATE TABLE removed_runs (run_id TEXT NOT NULL PRIMARY KEY) STRICT;
  INSERT INTO record_words (record_words, rank) VALUES ('deletemerge', 0);
  `,
  `
  ALTER TABLE records ADD COLUMN checksum INTEGER;
  ALTER TABLE runs ADD COLUMN checksum INTEGER;
  ALTER TABLE snapshots ADD COLUMN checksum INTEGER;
  ALTER TABLE indexing ADD COLUMN unchecked_through_id INTEGER NOT NULL DEFAULT 0;
  UPDATE indexing SET unchecked_through_id = (SELECT coalesce(max(id), 0) FROM records);
  `,
];

/** What `layoutOf` says of a database that lacks no step. */
export const NEWEST_LAYOUT: number = MIGRATIONS.length;

/** The layout from which on rows have checksums. */
export const CHECKED_LAYOUT = 4;

/**
 * The fingerprint of `sqlite_schema` at each layout, from 1 on: every table and index with its SQL. Written down because working
 * it out takes a database in memory and every step, which a hook has no time for; a test compares them with the steps.
 */
const SCHEMA_PRINTS: readonly string[] = [
  '4b661b1805c3ec61',
  '1e4e2c7474eefc1b',
  'dcbe36be17aef698',
  '4ed0ca29ea9f2d90',
];

/**
 * Where a database stands: 0 is an empty one. Nothing but the schema is read.
 *
 * @param file  for the message
 * @throws CoxswainError `store-version` for a database of another program or of a newer layout, `store-schema` for one that
 *   holds anything but the tables and indexes of its layout: a trigger of a foreign file would run with our statements
 */
export function layoutOf(database: DatabaseSync, file: string): number {
  if (database.isTransaction) return readLayout(database, file);
  // One view for all that is read: between two readings another process may make a store of an empty file.
  database.exec('BEGIN');
  try {
    return readLayout(database, file);
  } finally {
    // SQLite has ended it by itself after some faults, such as a full disk, which should be told.
    if (database.isTransaction) database.exec('COMMIT');
  }
}

function readLayout(database: DatabaseSync, file: string): number {
  const application = number(database, 'PRAGMA application_id');
  const layout = number(database, 'PRAGMA user_version');
  if (application === APPLICATION_ID) {
    if (layout > 0 && layout <= MIGRATIONS.length) {
      requireExactSchema(database, file, layout);
      return layout;
    }
    throw new CoxswainError(
      'store-version',
      `${file} has store layout ${layout}, this version of coxswain reads up to ${MIGRATIONS.length}; update coxswain to open it`,
      { details: { layout, supported: MIGRATIONS.length } },
    );
  }
  if (application === 0 && layout === 0 && number(database, 'SELECT count(*) AS value FROM sqlite_schema') === 0) {
    return 0;
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

/** The fingerprint of what a database holds. */
function schemaPrint(database: DatabaseSync): string {
  return hashText(
    schemaOf(database)
      .map(({ text }) => text)
      .join('\n'),
  );
}

function requireExactSchema(database: DatabaseSync, file: string, layout: number): void {
  if (schemaPrint(database) === SCHEMA_PRINTS[layout - 1]) return;
  throw new CoxswainError(
    'store-schema',
    `${file} is not opened: ${differenceOf(schemaOf(database), schemaOf(emptyDatabase(layout)))}; a store of layout ${layout} ` +
      'has exactly the tables and indexes that coxswain made. coxswain recover saves its records into a new store',
    { details: { layout } },
  );
}

function differenceOf(found: readonly SchemaObject[], wanted: readonly SchemaObject[]): string {
  const extra = found.find((one) => !wanted.some(({ text }) => text === one.text));
  const missing = wanted.find((one) => !found.some(({ text }) => text === one.text));
  const isAltered = extra !== undefined && wanted.some(({ name }) => name === extra.name);
  if (isAltered) return `its ${extra.name} was altered`;
  return extra === undefined ? `its ${missing?.name ?? 'schema'} is missing` : `it holds a foreign ${extra.name}`;
}

/** A database in memory with the tables of a layout. Exported for tests. */
export function emptyDatabase(layout: number): DatabaseSync {
  const database = new (sqliteModule().DatabaseSync)(':memory:');
  for (const step of MIGRATIONS.slice(0, layout)) database.exec(step);
  return database;
}

/**
 * Brings a database to the newest layout: all the steps that it lacks, or none. Does nothing to a new one's data
 * and waits, as the connection does, for another process that does the same.
 */
export function migrate(database: DatabaseSync, file: string): void {
  if (layoutOf(database, file) === MIGRATIONS.length) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have taken the steps while this one waited for its turn.
    for (const step of MIGRATIONS.slice(layoutOf(database, file))) database.exec(step);
    database.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
    database.exec('COMMIT');
  } catch (thrown) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw thrown;
  }
}

function number(database: DatabaseSync, sql: string): number {
  return Number(Object.values(database.prepare(sql).get() ?? {})[0]);
}
