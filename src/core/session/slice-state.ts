import { assertNever } from '../base/assert-never.ts';
import { CoxswainError } from '../base/error.ts';
import { RingBuffer } from '../base/ring-buffer.ts';
import type { SliceView } from './define-slice.ts';
import type { SliceOperation } from './slice-operation.ts';

/**
 * The content of one slice: the last `retain` items, deeply frozen, and an exact total.
 *
 * Cost: `apply` is O(items in the operation). Memory is `retain` references, and twice that after `all()`.
 */
export class SliceState<Item> implements SliceView<Item> {
  #ring: RingBuffer<Item>;
  #allItems: readonly Item[] | undefined;

  /** @param total  at least `items.length`. The oldest items beyond `retain` are dropped */
  constructor(retain: number, items: readonly Item[] = [], total: number = items.length) {
    this.#ring = RingBuffer.restore(retain, items.map(freezeDeep), total);
  }

  latest(): Item | undefined {
    return this.#ring.at(-1);
  }

  all(): readonly Item[] {
    this.#allItems ??= Object.freeze(this.#ring.toArray());
    return this.#allItems;
  }

  last(count: number): readonly Item[] {
    return this.#ring.last(Math.trunc(count));
  }

  where(predicate: (item: Item) => boolean): readonly Item[] {
    return this.all().filter((item) => predicate(item));
  }

  total(): number {
    return this.#ring.total;
  }

  /** Applies an operation. If it throws, the slice is unchanged. */
  apply(operation: SliceOperation<Item>): void {
    switch (operation.kind) {
      case 'none':
        return;
      case 'append':
        this.#ring.push(freezeDeep(operation.item));
        break;
      case 'extend':
        for (const item of operation.items) this.#ring.push(freezeDeep(item));
        break;
      case 'replace':
        this.#ring = RingBuffer.restore(this.#ring.capacity, operation.items.map(freezeDeep), operation.items.length);
        break;
      case 'amend':
        this.#amendItem(operation.position, operation.item);
        break;
      case 'clear':
        this.#ring = new RingBuffer(this.#ring.capacity);
        break;
      default:
        assertNever(operation);
    }
    this.#allItems = undefined;
  }

  #amendItem(position: number, item: Item): void {
    if (position >= 0 && this.#ring.replaceAt(position, freezeDeep(item))) return;
    throw new CoxswainError('invalid-argument', `no retained item at position ${position} of ${this.#ring.size}`, {
      details: { position, retained: this.#ring.size },
    });
  }
}

/** Freezes a value deeply. */
function freezeDeep<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) freezeDeep(member);
  return value;
}
