/** The least recently written entry is dropped. Cost: O(1). `get` does not refresh an entry, `set` does. */
export class LruMap<V, K extends string | number = string> {
  readonly capacity: number;
  readonly #map = new Map<K, V>();
  /** A new iterator skips the holes of deleted entries: twice the time of a `set` at 512 entries, ten times at 8,192. */
  #keys: Iterator<K, unknown> | undefined;

  constructor(capacity: number, entries: Iterable<readonly [K, V]> = []) {
    this.capacity = capacity;
    for (const [key, value] of entries) this.set(key, value);
  }

  get size(): number {
    return this.#map.size;
  }

  get(key: K): V | undefined {
    return this.#map.get(key);
  }

  has(key: K): boolean {
    return this.#map.has(key);
  }

  set(key: K, value: V): void {
    this.#map.delete(key);
    this.#map.set(key, value);
    if (this.#map.size <= this.capacity) {
      // An idle iterator would keep old hash tables of the map in memory.
      this.#keys = undefined;
      return;
    }
    this.#keys ??= this.#map.keys();
    const oldest = this.#keys.next();
    if (oldest.done !== true) this.#map.delete(oldest.value);
  }

  delete(key: K): boolean {
    return this.#map.delete(key);
  }

  clear(): void {
    this.#map.clear();
  }

  entries(): readonly (readonly [K, V])[] {
    return [...this.#map.entries()];
  }
}
