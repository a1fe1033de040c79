import type { Reducer, SliceView } from './define-slice.ts';
import type { SessionEvent } from './define-event.ts';
import { amend, append, replace, type SliceOperation } from './slice-operation.ts';

/** Reducer: appends the event's data. Cost: O(1). */
export function appendAll<Item>(_view: SliceView<Item>, event: SessionEvent<Item>): SliceOperation<Item> {
  return append(event.data);
}

/** Reducer: the slice becomes the event's data alone. Cost: O(1). */
export function replaceLatest<Item>(_view: SliceView<Item>, event: SessionEvent<Item>): SliceOperation<Item> {
  return replace([event.data]);
}

/**
 * Makes a reducer that puts the event's data in the place of the retained item with the same key, or appends it
 * when there is none. An item keeps its place when it is updated, so `latest()` is the newest key, not the newest
 * update. A key that `retain` dropped counts as new.
 *
 * Cost: O(retained) an event. `keyOf` must be pure.
 */
export function upsertBy<Item>(keyOf: (item: Item) => string | number): Reducer<Item, Item> {
  return (view, event) => {
    const key = keyOf(event.data);
    const position = view.all().findLastIndex((item) => keyOf(item) === key);
    return position < 0 ? append(event.data) : amend(position, event.data);
  };
}
