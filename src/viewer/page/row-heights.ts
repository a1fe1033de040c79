/** Maximum total height. Browsers limit the height of an element to about 33 million pixels. */
const MAX_TOTAL_PX = 30_000_000;

/** The possible states of a row's height. 0 means unknown. */
const MEASURED = 1;
const GUESSED = 2;

/**
 * The row heights of a very long list. Some are measured, and the rest are estimated.
 *
 * Cost: O(log n) to set a height, to get the top of a row, or to find the row at an offset; 16 bytes per row.
 */
export class RowHeights {
  #count = 0;
  #estimate: number;
  /** The height of each row minus the estimate. */
  #extraPx: Float64Array<ArrayBuffer>;
  /** Prefix sums of `#extraPx`, stored as a Fenwick tree. */
  #sums: Float64Array<ArrayBuffer>;
  #states: Uint8Array<ArrayBuffer>;

  /** @param estimatePx  height of a row that was not measured; reduced if the total would be too high */
  constructor(count: number, estimatePx: number) {
    this.#estimate = Math.min(estimatePx, MAX_TOTAL_PX / Math.max(1, count));
    const capacity = Math.max(1_024, 2 ** Math.ceil(Math.log2(count + 1)));
    this.#extraPx = new Float64Array(capacity);
    this.#sums = new Float64Array(capacity + 1);
    this.#states = new Uint8Array(capacity);
    this.#count = count;
  }

  get count(): number {
    return this.#count;
  }

  get total(): number {
    return this.topOf(this.#count);
  }

  /** Adds or removes rows at the end. */
  resize(count: number): void {
    if (count > this.#extraPx.length) this.#grow(count);
    for (let row = count; row < this.#count; row += 1) this.resetHeight(row);
    this.#count = count;
  }

  heightOf(row: number): number {
    return this.#estimate + (this.#extraPx[row] ?? 0);
  }

  /** Returns true if the height was measured. */
  isKnown(row: number): boolean {
    return this.#states[row] === MEASURED;
  }

  /** Returns true if the height was measured or guessed. */
  isGuessed(row: number): boolean {
    return this.#states[row] !== 0;
  }

  /** @returns true if the height changed */
  setHeight(row: number, px: number): boolean {
    if (row < 0 || row >= this.#count) return false;
    this.#states[row] = MEASURED;
    return this.#setExtra(row, px - this.#estimate);
  }

  /** Does the same as `setHeight`, but for a row that has not been visible yet. */
  setGuess(row: number, px: number): void {
    if (row < 0 || row >= this.#count || this.isKnown(row)) return;
    this.#states[row] = GUESSED;
    this.#setExtra(row, px - this.#estimate);
  }

  /** Resets the height of a row to the estimate. */
  resetHeight(row: number): boolean {
    this.#states[row] = 0;
    return this.#setExtra(row, 0);
  }

  /** Returns the top of a row. For `count`, it returns the end of the last row. */
  topOf(row: number): number {
    let sum = row * this.#estimate;
    for (let node = row; node > 0; node -= node & -node) sum += this.#sums[node] ?? 0;
    return sum;
  }

  /** Returns the last non-empty row that begins at or before an offset. */
  rowAt(px: number): number {
    let row = 0;
    let remainingPx = Math.max(0, px);
    for (let step = this.#extraPx.length; step > 0; step >>= 1) {
      const nextRow = row + step;
      if (nextRow > this.#count) continue;
      const stepPx = (this.#sums[nextRow] ?? 0) + step * this.#estimate;
      if (stepPx > remainingPx) continue;
      row = nextRow;
      remainingPx -= stepPx;
    }
    return Math.min(row, Math.max(0, this.#count - 1));
  }

  #setExtra(row: number, extra: number): boolean {
    const change = extra - (this.#extraPx[row] ?? 0);
    if (Math.abs(change) < 0.01) return false;
    this.#extraPx[row] = extra;
    for (let node = row + 1; node < this.#sums.length; node += node & -node)
      this.#sums[node] = (this.#sums[node] ?? 0) + change;
    return true;
  }

  #grow(count: number): void {
    const extra = this.#extraPx;
    const capacity = 2 ** Math.ceil(Math.log2(count + 1));
    const states = new Uint8Array(capacity);
    states.set(this.#states);
    this.#states = states;
    this.#extraPx = new Float64Array(capacity);
    this.#sums = new Float64Array(capacity + 1);
    for (const [row, value] of extra.entries()) if (value !== 0) this.#setExtra(row, value);
  }
}
