import { constants, copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';

import { sqliteModule } from '../../base/sqlite-module.ts';
import { CoxswainError } from '../../base/error.ts';
import { refuseLinks } from '../records-folder.ts';
import { GUARDED, guard, refuseOddCompanions } from './sqlite-hardening.ts';
import { isStore } from './sqlite-schema.ts';
import { createSqliteSession, type SqliteSession } from './sqlite-reads.ts';
import { isNotADatabase, toStoreError } from '../store-error.ts';

/** A database that is only read. */
export interface ReadOnlyDatabase {
  readonly session: SqliteSession;
  /**
   * False when somebody wrote to the file since it was opened, in a way that this reading of it does not follow: what was read
   * last does not count, and the file is to be opened again.
   */
  isCurrent(): boolean;
  close(): void;
}

/**
 * Opens a database so that nothing in its folder moves, in one of three ways:
 *
 * - Its log (`-wal`) is missing or empty: as a file that does not change (`immutable`), which takes no lock and makes no file. Whether
 *   it changed after all is looked up after each read (`isCurrent`).
 * - It has a log and the shared memory that goes with it: as the others use it, with the memory mapped for reading only. (Within one
 *   process SQLite maps it once, so a writer that the same process opens later could not write: there, open the writer first.)
 * - It has a log alone, as somebody copied it: SQLite would have to make the shared memory beside it, so a copy in a temporary
 *   folder is read.
 *
 * @throws CoxswainError `unsafe-path` for a link, `store-io` when the file is not there or cannot be opened, `store-version` and `store-schema` as `isStore`
 *   and for an empty file, `store-damaged`
 */
export function openReadOnly(path: string, { timeoutMs }: { readonly timeoutMs: number }): ReadOnlyDatabase {
  refuseLinks(path);
  refuseOddCompanions(path);
  const before = stampsOf(path);
  const isChanged = (): boolean => !stampsOf(path).every((stamp, index) => stamp === before[index]);
  if (logBytes(path) === 0) {
    return readOnly(openAs(path, 'immutable=1', { path, timeoutMs }), { isCurrent: () => !isChanged() });
  }
  if (statSync(`${path}-shm`, { throwIfNoEntry: false }) !== undefined) {
    return readOnly(openAs(path, 'mode=ro&readonly_shm=1', { path, timeoutMs }), { isCurrent: () => true });
  }
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-read-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  const tidy = (): void => {
    process.removeListener('exit', remove);
    remove();
  };
  try {
    const copy = join(folder, basename(path));
    for (const end of ['', '-wal']) copyFileSync(`${path}${end}`, `${copy}${end}`, constants.COPYFILE_FICLONE);
    return readOnly(openAs(copy, 'mode=ro', { path, timeoutMs }), { isCurrent: () => !isChanged(), tidy });
  } catch (thrown) {
    tidy();
    throw toStoreError(thrown, `open ${path}`);
  }
}

function readOnly(
  session: SqliteSession,
  { isCurrent, tidy }: { readonly isCurrent: () => boolean; readonly tidy?: () => void },
): ReadOnlyDatabase {
  return {
    session,
    isCurrent,
    close() {
      if (session.database.isOpen) session.database.close();
      tidy?.();
    },
  };
}

/** @param path  what messages name, also where `file` is a copy */
function openAs(
  file: string,
  query: string,
  { path, timeoutMs }: { readonly path: string; readonly timeoutMs: number },
): SqliteSession {
  const url = pathToFileURL(file);
  url.search = query;
  let database: DatabaseSync | undefined;
  try {
    database = new (sqliteModule().DatabaseSync)(url, { ...GUARDED, readOnly: true, timeout: timeoutMs });
    guard(database);
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

/** What changes when somebody writes: of the file when its log is moved into it, of the log before that. */
function stampsOf(path: string): readonly (bigint | undefined)[] {
  const file = statSync(path, { bigint: true, throwIfNoEntry: false });
  const log = statSync(`${path}-wal`, { bigint: true, throwIfNoEntry: false });
  // An empty log is as good as none; a writer that opens the store makes one.
  const written = log?.size === 0n ? undefined : log;
  return [file?.ino, file?.size, file?.mtimeNs, written?.ino, written?.size, written?.mtimeNs];
}
