/**
 * Counts things along a sequence of unknown length: by single places, then by stretches of 2, 4, 8 … of them, so that there are
 * `maxStretches` at most.
 *
 * Cost: O(1) amortised a place, `maxStretches` numbers of memory, whatever the length.
 */
export class StretchCounts {
  readonly #maxStretches: number;
  #counts: number[] = [];
  #perStretch = 1;
  #length = 0;

  /** @param maxStretches  an even number */
  constructor(maxStretches: number) {
    this.#maxStretches = maxStretches;
  }

  /** Places so far. */
  get length(): number {
    return this.#length;
  }

  /** Places that a stretch stands for; the last one may have fewer. */
  get perStretch(): number {
    return this.#perStretch;
  }

  /** Takes the place at `index` in, and counts it where told to. */
  mark(index: number, counted: boolean): void {
    this.#length = Math.max(this.#length, index + 1);
    while (this.#stretchOf(index) >= this.#maxStretches) this.#merge();
    if (counted) this.#counts[this.#stretchOf(index)] = this.#at(this.#stretchOf(index)) + 1;
  }

  /** How many were counted in each stretch. */
  counts(): readonly number[] {
    return Array.from({ length: Math.ceil(this.#length / this.#perStretch) }, (_, stretch) => this.#at(stretch));
  }

  #stretchOf(index: number): number {
    return Math.floor(index / this.#perStretch);
  }

  /** Stretches in which nothing was counted are holes. */
  #at(stretch: number): number {
    return this.#counts[stretch] ?? 0;
  }

  #merge(): void {
    const pairs = Array.from(
      { length: this.#maxStretches / 2 },
      (_, pair) => this.#at(2 * pair) + this.#at(2 * pair + 1),
    );
    this.#counts = pairs;
    this.#perStretch *= 2;
  }
}
