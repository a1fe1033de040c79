import type { CheckedBatch } from './check-batch.ts';
import type { TrajectorySink } from './trajectory-store.ts';

/** A store that accepts batches that were already checked and encoded, for example in another thread. */
export interface CheckedSink {
  /** Works like `append`. */
  appendChecked(checked: CheckedBatch): Promise<number>;
}

/** Works like `append`. If the store supports it, the batch is not checked and encoded again. */
export function appendChecked(store: TrajectorySink, checked: CheckedBatch): Promise<number> {
  return isCheckedSink(store)
    ? store.appendChecked(checked)
    : store.append(checked.records.map(({ record }) => record));
}

function isCheckedSink(store: TrajectorySink): store is TrajectorySink & CheckedSink {
  return 'appendChecked' in store;
}
