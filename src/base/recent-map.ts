/**
 * A map for what only saves work: it holds at least the last `capacity` entries that were read or written, and at most twice as
 * many, and forgets the others in lots.
 *
 * Cost: a look-up or two an operation; an entry that is used again is not moved each time, as an LRU map would.
 */
export class RecentMap<V> {
  readonly #capacity: number;
  #young = new Map<string, V>();
  #old = new Map<string, V>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get(key: string): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: string, value: V): void {
    this.#young.set(key, value);
    if (this.#young.size < this.#capacity) return;
    this.#old = this.#young;
    this.#young = new Map();
  }
}
