import { CoxswainError } from '../base/error.ts';
import type { Json } from '../base/json.ts';
import { copyJson } from './copy-json.ts';
import type { Slice, SliceReducer } from './define-slice.ts';
import type { SliceSnapshot } from './session-snapshot.ts';
import { SliceState } from './slice-state.ts';

/** A reducer together with the slice that it folds into. */
export interface BoundReducer {
  readonly sliceName: string;
  readonly state: SliceState<unknown>;
  readonly reduce: SliceReducer['reduce'];
}

const NOBODY: readonly BoundReducer[] = [];

interface RegisteredSlice {
  readonly slice: Slice<unknown>;
  readonly state: SliceState<unknown>;
}

/** A type of event, and who folds it, in order of registration, then of `on`. */
interface KnownEventType {
  readonly eventType: SliceReducer['eventType'];
  // Replaced, never changed, so that a list being walked stays as it was.
  reducers: readonly BoundReducer[];
}

/** The slices of one session, and which of their reducers fold which event. */
export class SliceRegistry {
  readonly #slices = new Map<string, RegisteredSlice>();
  readonly #eventTypes = new Map<string, KnownEventType>();
  /** Slices of the snapshot that nobody registered yet. */
  readonly #kept: Map<string, SliceSnapshot>;
  readonly #retain: Readonly<Record<string, number>>;

  /** @param retain  most items kept by slice name, where that is less than the slice's own */
  constructor(slices: Readonly<Record<string, SliceSnapshot>>, retain: Readonly<Record<string, number>> = {}) {
    this.#kept = new Map(Object.entries(slices));
    this.#retain = retain;
  }

  /** @throws CoxswainError "invalid-definition" when another slice, or event type, of a name is in use */
  register(slice: Slice<unknown>): SliceState<unknown> {
    const { sliceName } = slice;
    const known = this.#slices.get(sliceName);
    if (known?.slice === slice) return known.state;
    if (known !== undefined) throw duplicate('slice', sliceName);
    for (const { eventType } of slice.reducers) this.#claimed(eventType);
    const kept = this.#kept.get(sliceName);
    if (kept !== undefined) this.#kept.delete(sliceName);
    const retain = Math.min(slice.retain, this.#retain[sliceName] ?? Infinity);
    const state = new SliceState<unknown>(retain, kept?.items, kept?.total);
    this.#slices.set(sliceName, { slice, state });
    for (const { eventType, reduce } of slice.reducers) {
      const type = this.#claimed(eventType);
      type.reducers = [...type.reducers, { sliceName, state, reduce }];
    }
    return state;
  }

  /** @throws CoxswainError "invalid-definition" when another event type of that name is in use */
  claimEventType(eventType: SliceReducer['eventType']): void {
    this.#claimed(eventType);
  }

  /** In order of registration, then of `on`. */
  reducersOf(eventName: string): readonly BoundReducer[] {
    return this.#eventTypes.get(eventName)?.reducers ?? NOBODY;
  }

  #claimed(eventType: SliceReducer['eventType']): KnownEventType {
    const { eventName } = eventType;
    const known = this.#eventTypes.get(eventName);
    if (known === undefined) {
      const claimed: KnownEventType = { eventType, reducers: NOBODY };
      this.#eventTypes.set(eventName, claimed);
      return claimed;
    }
    if (known.eventType !== eventType) throw duplicate('event type', eventName);
    return known;
  }

  /** @throws CoxswainError "invalid-argument" when an item is not JSON, unless `shared` */
  snapshot(shared = false): Readonly<Record<string, SliceSnapshot>> {
    const copied = shared ? asTheyAre : copyItems;
    const slices: Record<string, SliceSnapshot> = {};
    for (const [name, { total, items }] of this.#kept) slices[name] = { total, items: copied(name, items) };
    for (const [name, { state }] of this.#slices) {
      slices[name] = { total: state.total(), items: copied(name, state.all()) };
    }
    return slices;
  }
}

function copyItems(name: string, items: readonly unknown[]): readonly Json[] {
  return items.map((item, index) => copyJson(item, `slices.${name}.items[${index}]`, 'invalid-argument'));
}

function asTheyAre(_name: string, items: readonly unknown[]): readonly Json[] {
  // Whoever asks for them so writes them as JSON.
  return items as readonly Json[];
}

function duplicate(kind: 'slice' | 'event type', name: string): CoxswainError {
  return new CoxswainError(
    'invalid-definition',
    `another ${kind} named "${name}" is in use in this session; define it once, with all its reducers, and import it`,
    { details: { kind, name } },
  );
}
