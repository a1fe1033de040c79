import { statSync } from 'node:fs';
import { resolve } from 'node:path';

import { sleepSync, steadyMs } from '../../core/base/clock.ts';
import { checkRunId } from '../../core/store/check-batch.ts';
import { isBusy, whileBusy } from '../store-address.ts';
import { openSqliteDatabase } from './sqlite-database.ts';
import { SqliteRuns } from './sqlite-runs.ts';
import { createSqliteSession, readSqliteRun, type SqliteRead } from './sqlite-reads.ts';
import { toStoreError } from '../../core/store/store-error.ts';
import type { TrajectoryStore } from '../../core/store/trajectory-store.ts';

export type OneShotStore = Pick<TrajectoryStore, 'transact' | 'readRun' | 'close'>;

/** The next process reads the whole log, 0.3 ms per 100 KB; a checkpoint takes 2 to 5 ms. Best for events of 100 KB. */
const MAX_LOG_BYTES = 512 * 1024;

/**
 * The file and guarantees of `sqliteStore`, for a process that writes once. Waiting for a lock blocks the thread
 * (`timeoutMs` for all calls together; each tries at least once). Nothing is indexed for search. `close` leaves the
 * database open, because closing would checkpoint at every event; what was acknowledged is on disk. Cost: a transaction
 * and a sync.
 */
export function sqliteOneShot(file: string, { timeoutMs }: { readonly timeoutMs: number }): OneShotStore {
  const path = resolve(file);
  const openedAtMs = steadyMs();
  const database = openSqliteDatabase(path, { timeoutMs, synchronous: 'FULL' });
  let remainingMs = timeoutMs - (steadyMs() - openedAtMs);
  // An automatic checkpoint at each commit could not reset the log: a process that exits without closing leaves no mark in it.
  database.exec('PRAGMA wal_autocheckpoint = 0');
  const session = createSqliteSession(database);
  const runs = new SqliteRuns(session, path);

  const beginTransaction = (): void => {
    for (;;) {
      const startMs = steadyMs();
      try {
        database.exec('BEGIN IMMEDIATE');
        return;
      } catch (thrown) {
        if (!isBusy(thrown) || remainingMs <= 0) throw toStoreError(thrown, `write to ${path}`);
      }
      sleepSync(0.2 + 0.8 * Math.random());
      remainingMs -= steadyMs() - startMs;
    }
  };

  const writeAndCommit = <Result>(write: () => Result): Result => {
    try {
      const result = write();
      database.exec('COMMIT');
      return result;
    } catch (thrown) {
      throw toStoreError(thrown, `write to ${path}`);
    }
  };

  const read: SqliteRead = async (action, work) => {
    try {
      return await whileBusy(() => work(session), timeoutMs);
    } catch (thrown) {
      throw toStoreError(thrown, `${action} ${path}`);
    }
  };

  return {
    // The method is asynchronous only because the interface is. All work is done when the call returns.
    async transact(runId, fold) {
      checkRunId(runId);
      beginTransaction();
      try {
        return writeAndCommit(runs.planTransaction(runId, fold));
      } catch (thrown) {
        // Some faults, such as a full disk, have already rolled back.
        if (database.isTransaction) database.exec('ROLLBACK');
        throw thrown;
      }
    },
    readRun: (runId, query) => readSqliteRun(read, runId, query),
    async close() {
      const logBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
      // A reader can prevent the checkpoint. In that case a later process does it.
      if (logBytes > MAX_LOG_BYTES) database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    },
  };
}
