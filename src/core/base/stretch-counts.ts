/** Equal stretches of first 1 item, then 2, 4, 8 … Cost: O(1) amortised; memory of `maxStretches` numbers. */
export class StretchCounts {
  readonly #maxStretches: number;
  #counts: number[] = [];
  #perStretch = 1;
  #length = 0;

  /** @param maxStretches  an even number */
  constructor(maxStretches: number) {
    this.#maxStretches = maxStretches;
  }

  get length(): number {
    return this.#length;
  }

  get perStretch(): number {
    return this.#perStretch;
  }

  mark(index: number, isCounted: boolean): void {
    this.#length = Math.max(this.#length, index + 1);
    while (this.#stretchOf(index) >= this.#maxStretches) this.#mergePairs();
    if (isCounted) this.#counts[this.#stretchOf(index)] = this.#countAt(this.#stretchOf(index)) + 1;
  }

  counts(): readonly number[] {
    return Array.from({ length: Math.ceil(this.#length / this.#perStretch) }, (_, stretch) => this.#countAt(stretch));
  }

  #stretchOf(index: number): number {
    return Math.floor(index / this.#perStretch);
  }

  /** A stretch without counts is a hole in the array. */
  #countAt(stretch: number): number {
    return this.#counts[stretch] ?? 0;
  }

  #mergePairs(): void {
    const pairs = Array.from(
      { length: this.#maxStretches / 2 },
      (_, pair) => this.#countAt(2 * pair) + this.#countAt(2 * pair + 1),
    );
    this.#counts = pairs;
    this.#perStretch *= 2;
  }
}
