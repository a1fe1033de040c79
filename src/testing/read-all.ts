import { allRuns } from '../core/store/all-runs.ts';
import type { TrajectoryRecord } from '../core/records/trajectory-record.ts';
import type { RunSummary } from '../core/facts/run-summary.ts';
import type { ReadQuery, StoreReader } from '../core/store/trajectory-store.ts';

/** Returns all records of a query as a list. */
export async function readAll(
  store: Pick<StoreReader, 'readRun'>,
  runId: string,
  query?: ReadQuery,
): Promise<readonly TrajectoryRecord[]> {
  return await Array.fromAsync(store.readRun(runId, query));
}

/** Reads all pages and returns all runs of a store in listing order. */
export async function listAll(store: Pick<StoreReader, 'listRuns'>, limit = 1000): Promise<readonly RunSummary[]> {
  return await Array.fromAsync(allRuns(store, limit));
}
