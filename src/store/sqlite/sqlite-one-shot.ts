import { statSync } from 'node:fs';
import { resolve } from 'node:path';

import { steadyMs } from '../../base/steady-ms.ts';
import { checkRunId } from '../check-batch.ts';
import { isBusy, whileBusy } from '../sqlite-busy.ts';
import { openSqliteDatabase } from './sqlite-database.ts';
import { SqliteRuns } from './sqlite-runs.ts';
import { createSqliteSession, readSqliteRun, type SqliteRead } from './sqlite-reads.ts';
import { toStoreError } from '../store-error.ts';
import type { TrajectoryStore } from '../trajectory-store.ts';

/** What a process needs of a store that takes one step of a run and is over. */
export type OneShotStore = Pick<TrajectoryStore, 'transact' | 'readRun' | 'close'>;

/**
 * Bytes of SQLite's log from which `close` moves it into the file. Whoever opens the store next reads the whole log, some
 * 0.3 ms for 100 KB; moving it takes 2 to 5 ms. Measured with events of 100 KB: the median event is shortest so.
 */
const MAX_LOG_BYTES = 512 * 1024;

/**
 * The SQLite store for a process that writes once: the file of `sqliteStore`, with the same guarantees and the default
 * durability. Waiting for another process's transaction holds up the thread, which has nothing else to do. Nothing is
 * indexed for searching; the next process that has the store open for longer does that.
 *
 * `close` leaves the database open, because SQLite would tidy up its files at every event; the end of the process closes
 * it, and what was acknowledged is on the disk.
 *
 * Cost: a transaction and a sync.
 *
 * @param timeoutMs  how long opening and all calls together wait for other processes; each call tries at least once
 * @throws CoxswainError as `sqliteStore`
 */
export function sqliteOneShot(file: string, { timeoutMs }: { readonly timeoutMs: number }): OneShotStore {
  const path = resolve(file);
  const openedAtMs = steadyMs();
  const database = openSqliteDatabase(path, { timeoutMs, synchronous: 'FULL' });
  let leftMs = timeoutMs - (steadyMs() - openedAtMs);
  // SQLite would look at it at each commit, and could not begin it anew: a process that ends without closing leaves no trace
  // of how far it came.
  database.exec('PRAGMA wal_autocheckpoint = 0');
  const session = createSqliteSession(database);
  const runs = new SqliteRuns(session, path);

  const begin = (): void => {
    for (;;) {
      const startMs = steadyMs();
      try {
        database.exec('BEGIN IMMEDIATE');
        return;
      } catch (thrown) {
        if (!isBusy(thrown) || leftMs <= 0) throw toStoreError(thrown, `write to ${path}`);
      }
      sleepSync(0.2 + 0.8 * Math.random());
      leftMs -= steadyMs() - startMs;
    }
  };

  const read: SqliteRead = async (doing, work) => {
    try {
      return await whileBusy(() => work(session), timeoutMs);
    } catch (thrown) {
      throw toStoreError(thrown, `${doing} ${path}`);
    }
  };

  return {
    // Asynchronous for the port's sake: all is done when the call returns.
    async transact(runId, fold) {
      checkRunId(runId);
      begin();
      try {
        const write = runs.planTransaction(runId, fold);
        return commit(write);
      } catch (thrown) {
        // SQLite has rolled back by itself after some faults, such as a full disk.
        if (database.isTransaction) database.exec('ROLLBACK');
        throw thrown;
      }
    },
    readRun: (runId, query) => readSqliteRun(read, runId, query),
    async close() {
      // Somebody who reads keeps it from being moved: then the next one does it.
      if (logBytes() > MAX_LOG_BYTES) database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    },
  };

  function logBytes(): number {
    return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  }

  function commit<Result>(write: () => Result): Result {
    try {
      const result = write();
      database.exec('COMMIT');
      return result;
    } catch (thrown) {
      throw toStoreError(thrown, `write to ${path}`);
    }
  }
}

function sleepSync(durationMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, durationMs);
}
