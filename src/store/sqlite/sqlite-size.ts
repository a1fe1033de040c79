import type { DatabaseSync } from 'node:sqlite';

import type { SqliteRow } from './sqlite-statements.ts';

/** Bytes of the pages in use: without those that are free for what comes, and without the log. Cost: three numbers. */
export function sqliteBytes(database: DatabaseSync): number {
  return (pragma(database, 'page_count') - pragma(database, 'freelist_count')) * pragma(database, 'page_size');
}

/**
 * The part of those bytes that is a run's, by the length of its records: what indexes and page ends take is shared out.
 *
 * @returns what answers it for a row of `runs` with its `chars`
 * Cost: a look at each row of `runs`.
 */
export function sqliteBytesByRow(database: DatabaseSync): (row: SqliteRow) => number {
  const bytes = sqliteBytes(database);
  const allChars = Number(database.prepare('SELECT total(chars) AS chars FROM runs').get()?.['chars']);
  return (row) => (allChars === 0 ? 0 : Math.floor((bytes * Number(row['chars'])) / allChars));
}

function pragma(database: DatabaseSync, name: string): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
}
