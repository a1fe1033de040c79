import type * as Sqlite from 'node:sqlite';

import { CoxswainError } from './error.ts';

/**
 * The runtime's SQLite. Not imported, so that everything else works without it.
 *
 * @throws CoxswainError `store-version` if the runtime has none
 */
export function sqliteModule(): typeof Sqlite {
  // The types assume that every runtime has it.
  const found = process.getBuiltinModule('node:sqlite') as typeof Sqlite | undefined;
  if (found !== undefined) return found;
  throw new CoxswainError(
    'store-version',
    'this runtime has no node:sqlite; use Node 22.23.3 or newer, Bun 1.4, Deno 2.9, or a store on PostgreSQL',
  );
}
