/**
 * Makes names unique: a repeated name gets the suffix `#2`, `#3` …
 *
 * Cost: O(1) amortised per name; keeps one string per name.
 */
export class UniqueNames {
  readonly #usedNames = new Set<string>();
  readonly #lastSuffix = new Map<string, number>();

  /** Returns the name `wantedName`, or its next free variant. */
  take(wantedName: string): string {
    if (this.#isNew(wantedName)) return wantedName;
    let suffix = this.#lastSuffix.get(wantedName) ?? 1;
    let name: string;
    do {
      suffix += 1;
      name = `${wantedName}#${suffix}`;
    } while (!this.#isNew(name));
    this.#lastSuffix.set(wantedName, suffix);
    return name;
  }

  /** Takes the name if it is free. The change of the set's size shows whether it was free, which saves a look-up. */
  #isNew(name: string): boolean {
    const sizeBefore = this.#usedNames.size;
    return this.#usedNames.add(name).size > sizeBefore;
  }
}
