import { constants, copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';

import { sqliteModule } from '../../core/node/sqlite-module.ts';
import { CoxswainError } from '../../core/base/error.ts';
import { GUARDED_OPTIONS, applyGuardPragmas, refuseForeignSideFiles } from './sqlite-hardening.ts';
import { isStore } from './sqlite-schema.ts';
import { createSqliteSession, type SqliteSession } from './sqlite-reads.ts';
import { isNotADatabase, toStoreError } from '../../core/store/store-error.ts';

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
