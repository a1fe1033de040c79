import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import type { RunSummary } from '../store/run-summary.ts';
import type { ReadQuery, StoreReader } from '../store/trajectory-store.ts';

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
  const runs: RunSummary[] = [];
  let after: string | undefined;
  do {
    const page = await store.listRuns(after === undefined ? { limit } : { limit, after });
    runs.push(...page.runs);
    after = page.next;
  } while (after !== undefined);
  return runs;
}
