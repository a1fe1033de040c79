/**
 * Makes names unique: a repeated name gets the suffix `#2`, `#3` …
 *
 * Cost: O(1) amortised per name; keeps one string per name.
 */
export class UniqueNames {
  readonly #used = new Set<string>();
  readonly #lastSuffix = new Map<string, number>();

  /** Returns the name `wanted`, or its next free variant. */
  take(wanted: string): string {
    if (this.#isNew(wanted)) return wanted;
    let suffix = this.#lastSuffix.get(wanted) ?? 1;
    let name: string;
    do {
      suffix += 1;
      name = `${wanted}#${suffix}`;
    } while (!this.#isNew(name));
    this.#lastSuffix.set(wanted, suffix);
    return name;
  }

  /** Takes the name if it is free. The change of the set's size shows whether it was free, which saves a look-up. */
  #isNew(name: string): boolean {
    const before = this.#used.size;
    return this.#used.add(name).size > before;
  }
}
