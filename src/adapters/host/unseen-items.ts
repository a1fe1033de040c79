/**
 * Returns the items that were added to a request's history since the last request. If the history is new or was shortened, it
 * returns the items after the model's last item.
 *
 * @param seenCount  number of items in the last request of this conversation; 0 before the first request Cost: at most one pass.
 */
export function unseenItems<Item>(
  items: readonly Item[],
  seenCount: number,
  isModels: (item: Item) => boolean,
): readonly Item[] {
  if (seenCount > 0 && items.length >= seenCount) return items.slice(seenCount);
  return items.slice(items.findLastIndex(isModels) + 1);
}
