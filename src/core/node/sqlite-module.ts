import type * as Sqlite from 'node:sqlite';

import { CoxswainError } from '../base/error.ts';

/** Not imported statically, so that the rest works on a runtime without SQLite. Throws CoxswainError `store-version`. */
export function sqliteModule(): typeof Sqlite {
  // The types assume that every runtime has SQLite.
  const sqlite = process.getBuiltinModule('node:sqlite') as typeof Sqlite | undefined;
  if (sqlite !== undefined) return sqlite;
  throw new CoxswainError(
    'store-version',
    'this runtime has no node:sqlite; use Node 22.23.3 or newer, Bun 1.4, Deno 2.9, or a store on PostgreSQL',
  );
}
