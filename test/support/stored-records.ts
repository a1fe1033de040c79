import { join } from 'node:path';

import type { TrajectoryRecord } from '../../src/core/records/trajectory-record.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';
import { readAll } from '../../src/testing/read-all.ts';

/** The records of a run in the store of a project. */
export async function storedRecords(project: string, runId = 's1'): Promise<readonly TrajectoryRecord[]> {
  const store = sqliteStore(join(project, '.coxswain', 'runs.db'));
  try {
    return await readAll(store, runId);
  } finally {
    await store.close();
  }
}
