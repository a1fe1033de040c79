/** How often each name came, most frequent first. */
export interface Frequency {
  readonly name: string;
  readonly count: number;
}

/** What `FrequencyTable` needs to go on: plain JSON. */
export interface FrequencySnapshot {
  readonly counts: readonly (readonly [string, number])[];
  readonly others: number;
}

/**
 * Counts names exactly for the first `capacity` different ones; later new names are counted together as others.
 *
 * Cost: O(1) a count; memory is bounded by `capacity`.
 */
export class FrequencyTable {
  readonly #capacity: number;
  readonly #counts: Map<string, number>;
  #others: number;

  constructor(capacity: number, snapshot?: FrequencySnapshot) {
    this.#capacity = capacity;
    this.#counts = new Map(snapshot?.counts ?? []);
    this.#others = snapshot?.others ?? 0;
  }

  add(name: string): void {
    const count = this.#counts.get(name);
    if (count === undefined && this.#counts.size >= this.#capacity) this.#others += 1;
    else this.#counts.set(name, (count ?? 0) + 1);
  }

  /** Different names counted by name. */
  get size(): number {
    return this.#counts.size;
  }

  /** Counts of names that came after the table was full. */
  get others(): number {
    return this.#others;
  }

  /** Most frequent first, ties by name. Cost: sorts the table. */
  toArray(): readonly Frequency[] {
    return [...this.#counts]
      .map(([name, count]) => ({ name, count }))
      .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
  }

  snapshot(): FrequencySnapshot {
    return { counts: [...this.#counts], others: this.#others };
  }
}
