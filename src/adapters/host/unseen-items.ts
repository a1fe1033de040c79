/** The items after the first `seenCount`, those of the last request; in a new or shortened history, after the model's last one. */
export function unseenItems<Item>(
  items: readonly Item[],
  seenCount: number,
  isModels: (item: Item) => boolean,
): readonly Item[] {
  if (seenCount > 0 && items.length >= seenCount) return items.slice(seenCount);
  return items.slice(items.findLastIndex(isModels) + 1);
}
