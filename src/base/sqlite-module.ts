import type * as Sqlite from 'node:sqlite';

import { CoxswainError } from './error.ts';

/**
 * SQLite as the runtime brings it. Not imported, so that a runtime without it can load everything else.
 *
 * @throws CoxswainError `store-version` where the runtime has none
 */
export function sqliteModule(): typeof Sqlite {
  // The types know no runtime without it.
  const found = process.getBuiltinModule('node:sqlite') as typeof Sqlite | undefined;
  if (found !== undefined) return found;
  throw new CoxswainError(
    'store-version',
    'this runtime has no node:sqlite; use Node 22.23.3 or newer, Bun 1.4, Deno 2.9, or a store on PostgreSQL',
  );
}
