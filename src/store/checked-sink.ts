import type { CheckedBatch } from './check-batch.ts';
import type { TrajectorySink } from './trajectory-store.ts';

/** A store that accepts batches which are already checked and encoded, for example in another thread. */
export interface CheckedSink {
  /** As `append`. */
  appendChecked(checked: CheckedBatch): Promise<number>;
}

/** As `append`, without checking and encoding again if the store supports it. */
export function appendChecked(store: TrajectorySink, checked: CheckedBatch): Promise<number> {
  return isCheckedSink(store)
    ? store.appendChecked(checked)
    : store.append(checked.records.map(({ record }) => record));
}

function isCheckedSink(store: TrajectorySink): store is TrajectorySink & CheckedSink {
  return 'appendChecked' in store;
}
