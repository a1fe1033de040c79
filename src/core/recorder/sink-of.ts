import { invalidArgument } from '../base/error.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import { lastSeqOf } from '../facts/run-summary.ts';
import type { TrajectorySink } from '../store/trajectory-store.ts';

/** A sink that takes single records, as in clark-agent. `TrajectoryRecorder` calls it as `sinkOf` calls its function. */
export interface RecordSink {
  record(record: TrajectoryRecord): unknown;
}

/**
 * Creates a sink from a function. The function is called with one record at a time, in order within each run, and its
 * promise is awaited before the next call. If it throws, the append fails and the recorder retries the whole batch. The
 * function may therefore receive a record twice. Durability depends on the function.
 */
export function sinkOf(record: (record: TrajectoryRecord) => unknown): TrajectorySink {
  // A recorder appends to several runs at once, but the function may not be re-entrant.
  let previous: Promise<unknown> = Promise.resolve();
  return {
    append(batch) {
      const appended = previous.then(async () => {
        for (const item of batch) await record(item);
        const last = batch.at(-1);
        return last === undefined ? -1 : lastSeqOf(last);
      });
      previous = appended.catch(() => undefined);
      return appended;
    },
    flush: async () => {
      await previous;
    },
    close: () => Promise.resolve(),
  };
}

/** @throws CoxswainError "invalid-argument" for a value without the functions of a sink */
export function toSink(sink: TrajectorySink | RecordSink): TrajectorySink {
  // JavaScript callers may pass a value of any type.
  const unchecked = sink as Partial<TrajectorySink & RecordSink> | null | undefined;
  const { append, flush, close, record } = unchecked ?? {};
  // A sink with all three functions is a TrajectorySink.
  if ([append, flush, close].every((member) => typeof member === 'function')) return sink as TrajectorySink;
  if (typeof record !== 'function') {
    throw invalidArgument('a sink must have the functions append, flush and close, or the function record');
  }
  return sinkOf((item) => unchecked?.record?.(item));
}
