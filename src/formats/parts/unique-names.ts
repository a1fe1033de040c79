/**
 * Gives every name once: a name that was given before comes back with `#2`, `#3` … behind it.
 *
 * Cost: O(1) amortised a name; holds one string for each name given.
 */
export class UniqueNames {
  readonly #given = new Set<string>();
  readonly #lastSuffix = new Map<string, number>();

  /** `wanted`, or the next free variant of it. */
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

  /** Gives the name away if nobody has it, which shows by the number of names: one look-up instead of two. */
  #isNew(name: string): boolean {
    const before = this.#given.size;
    return this.#given.add(name).size > before;
  }
}
