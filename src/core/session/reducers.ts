import type { Reducer, SliceView } from './define-slice.ts';
import type { SessionEvent } from './define-event.ts';
import { amend, append, replace, type SliceOperation } from './slice-operation.ts';

/** Reducer: appends the event's data. Cost: O(1). */
export function appendAll<Item>(_view: SliceView<Item>, event: SessionEvent<Item>): SliceOperation<Item> {
  return append(event.data);
}

/** Reducer: replaces the slice's content by the event's data. Cost: O(1). */
export function replaceLatest<Item>(_view: SliceView<Item>, event: SessionEvent<Item>): SliceOperation<Item> {
  return replace([event.data]);
}

/**
 * Creates a reducer that stores one item per key. If an item with the same key is retained, the event's data replaces it.
 * Otherwise the data is appended. A replaced item keeps its position, so `latest()` returns the newest key, not the newest
 * update. A key that is no longer retained counts as new.
 *
 * Cost: O(retained) per event. `keyOf` must be pure.
 */
export function upsertBy<Item>(keyOf: (item: Item) => string | number): Reducer<Item, Item> {
  return (view, event) => {
    const key = keyOf(event.data);
    const position = view.all().findLastIndex((item) => keyOf(item) === key);
    return position < 0 ? append(event.data) : amend(position, event.data);
  };
}
