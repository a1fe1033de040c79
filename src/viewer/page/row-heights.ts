/** A page of a browser can be some 33 million pixels high; beyond that nothing is shown. */
const MAX_TOTAL_PX = 30_000_000;

/** What is known of a row; 0 is nothing. */
const MEASURED = 1;
const GUESSED = 2;

/**
 * How high each row of a very long list is: what was measured, and an estimate for the rest.
 *
 * Cost: O(log n) to set a height, to ask where a row begins, or which row is at a place; 16 bytes a row.
 */
export class RowHeights {
  #count = 0;
  #estimate: number;
  /** Difference of a row's height from the estimate. */
  #extra: Float64Array<ArrayBuffer>;
  /** Sums of `#extra` (a Fenwick tree). */
  #sums: Float64Array<ArrayBuffer>;
  #known: Uint8Array<ArrayBuffer>;

  /** @param estimatePx  of a row that was not measured; smaller where so many rows would be too high together */
  constructor(count: number, estimatePx: number) {
    this.#estimate = Math.min(estimatePx, MAX_TOTAL_PX / Math.max(1, count));
    const room = Math.max(1_024, 2 ** Math.ceil(Math.log2(count + 1)));
    this.#extra = new Float64Array(room);
    this.#sums = new Float64Array(room + 1);
    this.#known = new Uint8Array(room);
    this.#count = count;
  }

  get count(): number {
    return this.#count;
  }

  get total(): number {
    return this.top(this.#count);
  }

  /** Rows are added at the end, or taken away there. */
  resize(count: number): void {
    if (count > this.#extra.length) this.#makeRoom(count);
    for (let row = count; row < this.#count; row += 1) this.forget(row);
    this.#count = count;
  }

  height(row: number): number {
    return this.#estimate + (this.#extra[row] ?? 0);
  }

  /** Whether it was measured. */
  isKnown(row: number): boolean {
    return this.#known[row] === MEASURED;
  }

  /** Whether it was measured or guessed. */
  isGuessed(row: number): boolean {
    return this.#known[row] !== 0;
  }

  /** @returns whether it was another before */
  set(row: number, px: number): boolean {
    if (row < 0 || row >= this.#count) return false;
    this.#known[row] = MEASURED;
    return this.#put(row, px - this.#estimate);
  }

  /** As `set`, for a row that was not seen yet. */
  guess(row: number, px: number): void {
    if (row < 0 || row >= this.#count || this.isKnown(row)) return;
    this.#known[row] = GUESSED;
    this.#put(row, px - this.#estimate);
  }

  /** Back to the estimate. */
  forget(row: number): boolean {
    this.#known[row] = 0;
    return this.#put(row, 0);
  }

  /** Where a row begins; for `count`, where the last one ends. */
  top(row: number): number {
    let sum = row * this.#estimate;
    for (let at = row; at > 0; at -= at & -at) sum += this.#sums[at] ?? 0;
    return sum;
  }

  /** The row at a place: the last one that begins at or before it and is not empty, as far as there is one. */
  rowAt(px: number): number {
    let row = 0;
    let left = Math.max(0, px);
    for (let step = this.#extra.length; step > 0; step >>= 1) {
      const next = row + step;
      if (next > this.#count) continue;
      const size = (this.#sums[next] ?? 0) + step * this.#estimate;
      if (size > left) continue;
      row = next;
      left -= size;
    }
    return Math.min(row, Math.max(0, this.#count - 1));
  }

  #put(row: number, extra: number): boolean {
    const change = extra - (this.#extra[row] ?? 0);
    if (Math.abs(change) < 0.01) return false;
    this.#extra[row] = extra;
    for (let at = row + 1; at < this.#sums.length; at += at & -at) this.#sums[at] = (this.#sums[at] ?? 0) + change;
    return true;
  }

  #makeRoom(count: number): void {
    const extra = this.#extra;
    const room = 2 ** Math.ceil(Math.log2(count + 1));
    const known = new Uint8Array(room);
    known.set(this.#known);
    this.#known = known;
    this.#extra = new Float64Array(room);
    this.#sums = new Float64Array(room + 1);
    for (const [row, value] of extra.entries()) if (value !== 0) this.#put(row, value);
  }
}
