import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import { lastSeqOf } from '../store/run-summary.ts';
import type { TrajectorySink } from '../store/trajectory-store.ts';

/**
 * A sink of a function that takes one record, in order; it is waited for. What it throws fails the append, which the recorder
 * tries again from that batch's first record: the function may see a record twice. A record that it takes is as durable as it
 * makes it.
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
