import type { CheckedBatch } from './check-batch.ts';
import type { TrajectorySink } from './trajectory-store.ts';

/** A store that takes batches which this process has checked and encoded already, such as in another thread. */
export interface CheckedSink {
  /** As `append`. */
  appendChecked(checked: CheckedBatch): Promise<number>;
}

/** As `append`; nothing is checked or encoded again where the store can do without. */
export function appendChecked(store: TrajectorySink, checked: CheckedBatch): Promise<number> {
  return takesChecked(store) ? store.appendChecked(checked) : store.append(checked.records.map(({ record }) => record));
}

function takesChecked(store: TrajectorySink): store is TrajectorySink & CheckedSink {
  return 'appendChecked' in store;
}
