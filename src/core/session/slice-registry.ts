import { CoxswainError } from '../base/error.ts';
import type { Json } from '../base/json.ts';
import { copyJson } from './copy-json.ts';
import type { Slice, SliceReducer } from './define-slice.ts';
import type { SliceSnapshot } from './session-snapshot.ts';
import { SliceState } from './slice-state.ts';

export interface BoundReducer {
  readonly sliceName: string;
  readonly state: SliceState<unknown>;
  readonly reduce: SliceReducer['reduce'];
}

const NONE: readonly BoundReducer[] = [];

interface RegisteredSlice {
  readonly slice: Slice<unknown>;
  readonly state: SliceState<unknown>;
}

interface KnownEventType {
  readonly eventType: SliceReducer['eventType'];
  /**
   * The reducers, in order of registration, then of `on`. The list is replaced instead of changed, so that running
   * iterations are not affected.
   */
  reducers: readonly BoundReducer[];
}

/** The slices of one session, with their reducers by event type. */
export class SliceRegistry {
  readonly #slices = new Map<string, RegisteredSlice>();
  readonly #eventTypes = new Map<string, KnownEventType>();
  /** Slices of the snapshot that are not registered yet. */
  readonly #unregistered: Map<string, SliceSnapshot>;
  readonly #retain: Readonly<Record<string, number>>;

  /** @param retain  lower limits than the slices' own `retain`, by slice name */
  constructor(slices: Readonly<Record<string, SliceSnapshot>>, retain: Readonly<Record<string, number>> = {}) {
    this.#unregistered = new Map(Object.entries(slices));
    this.#retain = retain;
  }

  /** @throws CoxswainError "invalid-definition" if another slice or event type with the same name is in use */
  register(slice: Slice<unknown>): SliceState<unknown> {
    const { sliceName } = slice;
    const registeredSlice = this.#slices.get(sliceName);
    if (registeredSlice?.slice === slice) return registeredSlice.state;
    if (registeredSlice !== undefined) throw duplicate('slice', sliceName);
    for (const { eventType } of slice.reducers) this.#claimed(eventType);
    const restored = this.#unregistered.get(sliceName);
    this.#unregistered.delete(sliceName);
    const retain = Math.min(slice.retain, this.#retain[sliceName] ?? Infinity);
    const state = new SliceState<unknown>(retain, restored?.items, restored?.total);
    this.#slices.set(sliceName, { slice, state });
    for (const { eventType, reduce } of slice.reducers) {
      const type = this.#claimed(eventType);
      type.reducers = [...type.reducers, { sliceName, state, reduce }];
    }
    return state;
  }

  /** @throws CoxswainError "invalid-definition" if another event type with that name is in use */
  claimEventType(eventType: SliceReducer['eventType']): void {
    this.#claimed(eventType);
  }

  /** Returns the reducers of an event type, in order of registration, then of `on`. */
  reducersOf(eventName: string): readonly BoundReducer[] {
    return this.#eventTypes.get(eventName)?.reducers ?? NONE;
  }

  #claimed(eventType: SliceReducer['eventType']): KnownEventType {
    const { eventName } = eventType;
    const registeredType = this.#eventTypes.get(eventName);
    if (registeredType === undefined) {
      const claimed: KnownEventType = { eventType, reducers: NONE };
      this.#eventTypes.set(eventName, claimed);
      return claimed;
    }
    if (registeredType.eventType !== eventType) throw duplicate('event type', eventName);
    return registeredType;
  }

  /** @throws CoxswainError "invalid-argument" if an item is not JSON, unless `shared` */
  snapshot(shared = false): Readonly<Record<string, SliceSnapshot>> {
    const itemsOf = (name: string, items: readonly unknown[]): readonly Json[] =>
      // The caller serialises a shared snapshot, so its items need no check.
      shared ? (items as readonly Json[]) : copyItems(name, items);
    const slices: Record<string, SliceSnapshot> = {};
    for (const [name, { total, items }] of this.#unregistered) slices[name] = { total, items: itemsOf(name, items) };
    for (const [name, { state }] of this.#slices) {
      slices[name] = { total: state.total(), items: itemsOf(name, state.all()) };
    }
    return slices;
  }
}

function copyItems(name: string, items: readonly unknown[]): readonly Json[] {
  return items.map((item, index) => copyJson(item, `slices.${name}.items[${index}]`, 'invalid-argument'));
}

function duplicate(kind: 'slice' | 'event type', name: string): CoxswainError {
  return new CoxswainError(
    'invalid-definition',
    `another ${kind} named "${name}" is in use in this session; define it once, with all its reducers, and import it`,
    { details: { kind, name } },
  );
}
