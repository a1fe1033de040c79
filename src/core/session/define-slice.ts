import { invalidDefinition } from '../base/error.ts';
import { type EventType, type SessionEvent, type EventInput, checkDefinitionName } from './define-event.ts';
import type { JsonLike } from './copy-json.ts';

/** A live view of a slice. Lists that it has returned never change. */
export interface SliceView<Item> {
  /** The newest item; undefined for an empty slice. Cost: O(1). */
  latest(): Item | undefined;
  /** The retained items, oldest first, frozen. Cost: O(retained) after a change, else O(1). */
  all(): readonly Item[];
  /** The newest `count` retained items, oldest first. Cost: O(count). */
  last(count: number): readonly Item[];
  /** The retained items for which `predicate` holds, oldest first. Cost: O(retained). */
  where(predicate: (item: Item) => boolean): readonly Item[];
  /**
   * The number of items ever added, independent of retention: `append` and `extend` add to it, `replace` sets it, `clear`
   * resets it, and `amend` does not change it. `all()` returns the last `min(retain, total())` items. Cost: O(1).
   */
  total(): number;
}

/** Pure. If it throws, the slice is unchanged and a fault recorded; other reducers and subscribers still run. */
export type Reducer<Item, Data> = (
  view: SliceView<Item>,
  event: SessionEvent<Data>,
) => SliceOperation<Item> | ReducerResult<Item>;

/** An untyped reducer. It allows slices of different item types in one list. */
export interface SliceReducer {
  /** Compared by reference. A session refuses two event types with the same name. */
  readonly eventType: { readonly eventName: string };
  readonly reduce: (
    view: SliceView<never>,
    event: SessionEvent<never>,
  ) => SliceOperation<unknown> | ReducerResult<unknown>;
}

/** The definition of a slice. It is also the key for reading the slice: `session.slice(Plan).latest()`. Immutable. */
export interface Slice<Item> {
  readonly sliceName: string;
  /** Maximum number of retained items. No window over the slice can be larger. */
  readonly retain: number;
  /** The reducers in the order in which `on` added them. */
  readonly reducers: readonly SliceReducer[];
  /** Returns a slice with the same name that also folds events of `eventType`. Reducers run in the order of `on`. */
  on<Data>(eventType: EventType<Data>, reducer: Reducer<Item, Data>): Slice<Item>;
}

export interface SliceOptions {
  /** Maximum number of retained items, a whole number from 1. Default 1,000. */
  readonly retain?: number;
}

/**
 * Defines a typed list into which events are folded. The item type and the slice may share a name:
 *
 * ```ts
 * export interface Plan { readonly steps: number }
 * export const Plan: Slice<Plan> = defineSlice<Plan>('plan').on(PlanMade, replaceLatest);
 * ```
 *
 * Items must be plain JSON. They are kept by reference, so do not change an item after its dispatch. The type checker
 * refuses most other values. At run time only `session.snapshot()` checks them, because events are folded very often.
 *
 * @throws CoxswainError "invalid-definition" if the name does not match `^[a-z0-9][a-z0-9._/-]{0,63}$`, or `retain` is not
 *   a whole number from 1
 */
export function defineSlice<Item extends JsonLike<Item>>(name: string, options: SliceOptions = {}): Slice<Item> {
  const retain = options.retain ?? 1000;
  checkDefinitionName('slice', name);
  if (!Number.isSafeInteger(retain) || retain < 1) {
    const message = `slice "${name}": retain must be a whole number from 1, got ${retain}`;
    throw invalidDefinition(message, { slice: name, retain });
  }
  return createSlice<Item>(name, retain, []);
}

function createSlice<Item>(sliceName: string, retain: number, reducers: readonly SliceReducer[]): Slice<Item> {
  return Object.freeze({
    sliceName,
    retain,
    reducers: Object.freeze(reducers),
    on: <Data>(eventType: EventType<Data>, reduce: Reducer<Item, Data>): Slice<Item> =>
      createSlice<Item>(sliceName, retain, [...reducers, { eventType, reduce }]),
  });
}

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

/** Replaces the retained item at `position` (0: the oldest). `total()` stays. An invalid position is a fault. */
export function amend<Item>(position: number, item: Item): SliceOperation<Item> {
  return { kind: 'amend', position, item };
}

/** Empties the slice: `total()` becomes 0. */
export function clear(): SliceOperation<never> {
  return { kind: 'clear' };
}

/** Reducer: appends the event's data. Cost: O(1). */
export function appendAll<Item>(_view: SliceView<Item>, event: SessionEvent<Item>): SliceOperation<Item> {
  return append(event.data);
}

/** Reducer: replaces the slice's content by the event's data. Cost: O(1). */
export function replaceLatest<Item>(_view: SliceView<Item>, event: SessionEvent<Item>): SliceOperation<Item> {
  return replace([event.data]);
}

/**
 * Creates a reducer that stores one item per key. If an item with the same key is retained, the event's data replaces it.
 * Otherwise the data is appended. A replaced item keeps its position, so `latest()` returns the newest key, not the newest
 * update. A key that is no longer retained counts as new.
 *
 * Cost: O(retained) per event. `keyOf` must be pure.
 */
export function upsertBy<Item>(keyOf: (item: Item) => string | number): Reducer<Item, Item> {
  return (view, event) => {
    const key = keyOf(event.data);
    const position = view.all().findLastIndex((item) => keyOf(item) === key);
    return position < 0 ? append(event.data) : amend(position, event.data);
  };
}
