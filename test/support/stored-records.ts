import type { TrajectoryRecord } from '../../src/core/records/trajectory-record.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';
import { readAll } from './script-records.ts';
import { storeFileOf, type UserPlace } from '../user-state.ts';

/** The records of a run in the store of a project. */
export async function storedRecords(place: UserPlace, runId = 's1'): Promise<readonly TrajectoryRecord[]> {
  const store = sqliteStore(storeFileOf(place));
  try {
    return await readAll(store, runId);
  } finally {
    await store.close();
  }
}
