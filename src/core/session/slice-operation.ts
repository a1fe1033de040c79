import type { EventInput } from './define-event.ts';

/** A change that the session applies to a slice. Plain data. */
export type SliceOperation<Item> =
  | { readonly kind: 'none' }
  | { readonly kind: 'append'; readonly item: Item }
  | { readonly kind: 'extend'; readonly items: readonly Item[] }
  | { readonly kind: 'replace'; readonly items: readonly Item[] }
  | { readonly kind: 'amend'; readonly position: number; readonly item: Item }
  | { readonly kind: 'clear' };

/** An operation and further events. The events are dispatched after all slices have folded the current event. */
export interface ReducerResult<Item> {
  readonly operation: SliceOperation<Item>;
  readonly dispatch: readonly EventInput<unknown>[];
}

/** Leaves the slice unchanged. */
export const none: SliceOperation<never> = Object.freeze({ kind: 'none' });

/** Adds one item at the end: `total()` grows by 1. */
export function append<Item>(item: Item): SliceOperation<Item> {
  return { kind: 'append', item };
}

/** Adds items at the end, in order: `total()` grows by their number. */
export function extend<Item>(items: readonly Item[]): SliceOperation<Item> {
  return { kind: 'extend', items };
}

/** Replaces the content. `total()` becomes the number of `items`, even if fewer are retained. */
export function replace<Item>(items: readonly Item[]): SliceOperation<Item> {
  return { kind: 'replace', items };
}

/**
 * Replaces the retained item at `position` (0 is the oldest in `view.all()`). `total()` does not change. An invalid
 * position is a fault.
 */
export function amend<Item>(position: number, item: Item): SliceOperation<Item> {
  return { kind: 'amend', position, item };
}

/** Empties the slice: `total()` becomes 0. */
export function clear(): SliceOperation<never> {
  return { kind: 'clear' };
}
