/**
 * The items of a request's history since the last request. For a new or shortened history: those after the model's last item.
 *
 * @param seen  number of items in the last request of this conversation; 0 before the first
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
