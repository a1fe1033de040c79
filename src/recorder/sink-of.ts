import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import { lastSeqOf } from '../store/run-summary.ts';
import type { TrajectorySink } from '../store/trajectory-store.ts';

/**
 * Creates a sink from a function. The function is called with one record at a time, in order, and its promise is awaited.
 * If it throws, the append fails and the recorder retries the whole batch. The function may therefore receive a record
 * twice. Durability depends on the function.
 */
export function sinkOf(record: (record: TrajectoryRecord) => unknown): TrajectorySink {
  return {
    async append(batch) {
      for (const item of batch) await record(item);
      const last = batch.at(-1);
      return last === undefined ? -1 : lastSeqOf(last);
    },
    flush: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}
