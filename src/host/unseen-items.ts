/**
 * The items of a request's history that came since the last request. Of a history that is seen for the first time, or
 * that was shortened meanwhile, what came after the model's last words.
 *
 * @param seen how many items the last request of this conversation had; 0 for none
 * Cost: one pass at most.
 */
export function unseenItems<Item>(
  items: readonly Item[],
  seen: number,
  isModels: (item: Item) => boolean,
): readonly Item[] {
  if (seen > 0 && items.length >= seen) return items.slice(seen);
  return items.slice(items.findLastIndex(isModels) + 1);
}
