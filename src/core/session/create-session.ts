import { CoxswainError, invalidArgument, assertNever, invalidDefinition } from '../base/error.ts';
import type { EventInput, EventType, SessionEvent } from './define-event.ts';
import type { Slice, SliceView, SliceReducer, SliceOperation } from './define-slice.ts';
import { FaultLog, type FaultPlace, type SessionFault } from './fault-log.ts';
import {
  type Session,
  type SessionOptions,
  type SnapshotOptions,
  decodeSnapshot,
  SESSION_SNAPSHOT_VERSION,
  type SessionSnapshot,
  type SliceSnapshot,
} from './session.ts';
import { ToolCallCount, ToolInvoked } from './tool-invoked.ts';
import type { Clock } from '../base/clock.ts';
import type { Json } from '../base/json.ts';
import { copyJson } from './copy-json.ts';
import { RingBuffer } from '../base/ring-buffer.ts';

/** The last `retain` items, frozen, and an exact total. Cost: O(items) to apply; `all()` doubles the memory. */
export class SliceState<Item> implements SliceView<Item> {
  #ring: RingBuffer<Item>;
  #allItems: readonly Item[] | undefined;

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

function freezeDeep<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) freezeDeep(member);
  return value;
}

interface BoundReducer {
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
  /** In order of registration, then of `on`. The list is replaced instead of changed: running iterations are not affected. */
  reducers: readonly BoundReducer[];
}

class SliceRegistry {
  readonly #slices = new Map<string, RegisteredSlice>();
  readonly #eventTypes = new Map<string, KnownEventType>();
  readonly #unregistered: Map<string, SliceSnapshot>;
  readonly #retain: Readonly<Record<string, number>>;

  /** @param retain  lower limits than the slices' own `retain`, by slice name */
  constructor(slices: Readonly<Record<string, SliceSnapshot>>, retain: Readonly<Record<string, number>> = {}) {
    this.#unregistered = new Map(Object.entries(slices));
    this.#retain = retain;
  }

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

  claimEventType(eventType: SliceReducer['eventType']): void {
    this.#claimed(eventType);
  }

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
  const fix = 'define it once, with all its reducers, and import it';
  return invalidDefinition(`another ${kind} named "${name}" is in use in this session; ${fix}`, { kind, name });
}

const MAX_DEPTH = 16;

/** If each event caused two events, depth 16 would give 131,070 events. */
const MAX_CAUSED = 1000;

interface QueuedEvent {
  readonly input: EventInput<unknown>;
  /** Unix milliseconds: the event's own time, or the time of its cause, or the clock's time. */
  readonly atMs: number;
  /** 0 for an outermost event. */
  readonly depth: number;
}

/** @throws CoxswainError "invalid-argument" if the event has a time that is not a finite number */
function checkEventTime({ atMs, type }: EventInput<unknown>): void {
  if (atMs === undefined || Number.isFinite(atMs)) return;
  throw invalidArgument(`event "${type}": atMs must be a finite number, got ${atMs}`, { details: { type } });
}

class EventQueue {
  readonly #clock: Clock;
  #queue: QueuedEvent[] = [];
  #causedCount = 0;
  #currentEvent: QueuedEvent | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get busy(): boolean {
    return this.#currentEvent !== undefined;
  }

  /** @returns the reason why the event is refused, else undefined */
  add(input: EventInput<unknown>): string | undefined {
    checkEventTime(input);
    const cause = this.#currentEvent;
    if (cause === undefined) {
      this.#queue.push({ input, atMs: input.atMs ?? this.#clock.nowMs(), depth: 0 });
      return undefined;
    }
    if (cause.depth >= MAX_DEPTH) {
      return `"${input.type}" is not dispatched: "${cause.input.type}" is already ${MAX_DEPTH} events deep; break the cycle between reducers and subscribers`;
    }
    if (this.#causedCount >= MAX_CAUSED) {
      return `"${input.type}" is not dispatched: one dispatch has already caused ${MAX_CAUSED} events; dispatch fewer from reducers and subscribers`;
    }
    this.#causedCount += 1;
    this.#queue.push({ input, atMs: input.atMs ?? cause.atMs, depth: cause.depth + 1 });
    return undefined;
  }

  /** Processes the waiting events and the events that they cause. A nested call during a drain does nothing. */
  drain(process: (event: QueuedEvent) => void): void {
    if (this.busy) return;
    try {
      // The array may grow during the iteration.
      for (const event of this.#queue) {
        this.#currentEvent = event;
        process(event);
      }
    } finally {
      this.#currentEvent = undefined;
      this.#queue = [];
      this.#causedCount = 0;
    }
  }
}

/** These slices are registered in every session, so that every tool call is counted. */
const BUILT_IN: readonly Slice<unknown>[] = [ToolInvoked, ToolCallCount];

const EMPTY: SessionSnapshot = {
  schema_version: SESSION_SNAPSHOT_VERSION,
  event_count: 0,
  fault_count: 0,
  faults: [],
  slices: {},
};

/**
 * Creates an empty session.
 *
 * @throws CoxswainError "invalid-argument" without a clock
 * @throws CoxswainError "invalid-definition" if two slices or two event types share a name
 */
export function createSession(options: SessionOptions): Session {
  return new FoldingSession(EMPTY, options);
}

/**
 * Continues a session from a copy of a snapshot. Slices in the snapshot are kept until they are registered. A slice with a
 * smaller `retain` keeps its newest items.
 *
 * @param snapshot  the result of `session.snapshot()`, possibly serialised
 * @throws CoxswainError "snapshot-version" if its schema is newer, or if it is malformed (`details.path`)
 * @throws CoxswainError "invalid-definition" as `createSession`
 *
 * Cost: one copy of the snapshot.
 */
export function restoreSession(snapshot: unknown, options: SessionOptions): Session {
  return new FoldingSession(decodeSnapshot(snapshot), options);
}

/** The snapshot is neither checked nor copied: it must not be shared and must have been written by this version. */
export function adoptSession(snapshot: SessionSnapshot, options: SessionOptions): Session {
  return new FoldingSession(snapshot, options);
}

/** A session's events have a few types, whose names come from code. */
const MAX_NOTED_TYPES = 1_000;

interface Subscription {
  readonly handler: (event: SessionEvent<never>) => unknown;
  active: boolean;
}

class FoldingSession implements Session {
  readonly task: string | undefined;
  readonly #queue: EventQueue;
  readonly #faults: FaultLog;
  readonly #slices: SliceRegistry;
  // Lists are replaced instead of changed, so that running iterations are not affected.
  readonly #subscriptions = new Map<string, readonly Subscription[]>();
  readonly #dispatchedTypes = new Set<string>();
  #eventCount: number;
  #event: SessionEvent<unknown> | undefined;

  constructor(snapshot: SessionSnapshot, options: SessionOptions) {
    // JavaScript callers may leave out the clock or all options.
    const unchecked = options as Partial<SessionOptions> | undefined;
    if (typeof unchecked?.clock?.nowMs !== 'function') {
      throw invalidArgument('a session needs a clock, as in createSession({ clock: systemClock })');
    }
    this.#faults = new FaultLog(options, snapshot.faults, snapshot.fault_count);
    this.task = options.task;
    this.#queue = new EventQueue(options.clock);
    this.#slices = new SliceRegistry(snapshot.slices, options.retain);
    this.#eventCount = snapshot.event_count;
    for (const slice of [...BUILT_IN, ...(options.slices ?? [])]) this.register(slice);
  }

  dispatch(input: EventInput<unknown>): void {
    const refusal = this.#queue.add(input);
    if (refusal !== undefined && this.#event !== undefined) {
      this.#faults.report({ ...placeOf('dispatch-depth', this.#event), eventType: input.type }, refusal);
    }
    this.#queue.drain(this.#process);
  }

  readonly #process = ({ input, atMs }: QueuedEvent): void => {
    const event: SessionEvent<unknown> = { type: input.type, data: input.data, atMs, index: this.#eventCount };
    this.#eventCount += 1;
    this.#event = event;
    if (this.#dispatchedTypes.size < MAX_NOTED_TYPES) this.#dispatchedTypes.add(event.type);
    for (const bound of this.#slices.reducersOf(event.type)) this.#reduceSlice(bound, event);
    for (const subscription of this.#subscriptions.get(event.type) ?? []) this.#notifySubscriber(subscription, event);
  };

  #reduceSlice({ sliceName, state, reduce }: BoundReducer, event: SessionEvent<unknown>): void {
    const view: SliceView<unknown> = state;
    try {
      // Names are unique, which registration checks. The reducer is therefore typed for this slice's items and this event
      // type's data.
      const outcome = reduce(view as SliceView<never>, event as SessionEvent<never>);
      if (!('operation' in outcome)) {
        state.apply(outcome);
        return;
      }
      // The events are checked before the slice changes, so that a reducer applies completely or not at all.
      for (const input of outcome.dispatch) checkEventTime(input);
      state.apply(outcome.operation);
      for (const input of outcome.dispatch) this.dispatch(input);
    } catch (thrown) {
      this.#faults.reportThrown({ ...placeOf('reducer-failed', event), slice: sliceName }, thrown);
    }
  }

  #notifySubscriber(subscription: Subscription, event: SessionEvent<unknown>): void {
    if (!subscription.active) return;
    const reportThrown = (thrown: unknown): void => {
      this.#faults.reportThrown(placeOf('subscriber-failed', event), thrown);
    };
    try {
      // Names are unique, which subscription checks. The handler is therefore typed for this event type's data.
      const result = subscription.handler(event as SessionEvent<never>);
      if (result instanceof Promise) result.catch(reportThrown);
    } catch (thrown) {
      reportThrown(thrown);
    }
  }

  slice<Item>(slice: Slice<Item>): SliceView<Item> {
    const view: SliceView<unknown> = this.#slices.register(slice);
    // The slice's own reducers, which are typed by `Item`, created these items.
    return view as SliceView<Item>;
  }

  register(slice: Slice<unknown>): void {
    this.#slices.register(slice);
  }

  subscribe<Data>(eventType: EventType<Data>, handler: (event: SessionEvent<Data>) => unknown): () => void {
    this.#slices.claimEventType(eventType);
    const { eventName } = eventType;
    const subscription: Subscription = { handler, active: true };
    this.#subscriptions.set(eventName, [...(this.#subscriptions.get(eventName) ?? []), subscription]);
    return () => {
      subscription.active = false;
      const list = this.#subscriptions.get(eventName) ?? [];
      this.#subscriptions.set(
        eventName,
        list.filter((other) => other !== subscription),
      );
    };
  }

  eventCount(): number {
    return this.#eventCount;
  }

  hasDispatched({ eventName }: Pick<EventType<never>, 'eventName'>): boolean {
    return this.#dispatchedTypes.has(eventName);
  }

  faults(): readonly SessionFault[] {
    return this.#faults.recent();
  }

  faultCount(): number {
    return this.#faults.count;
  }

  snapshot({ shared = false }: SnapshotOptions = {}): SessionSnapshot {
    if (this.#queue.busy) {
      throw new CoxswainError('invalid-argument', 'snapshot() inside a dispatch: take it after dispatch() returns');
    }
    return {
      schema_version: SESSION_SNAPSHOT_VERSION,
      event_count: this.#eventCount,
      fault_count: this.#faults.count,
      faults: this.#faults.recent(),
      slices: this.#slices.snapshot(shared),
    };
  }
}

function placeOf(code: SessionFault['code'], event: SessionEvent<unknown>): FaultPlace {
  return { code, eventType: event.type, eventIndex: event.index, atMs: event.atMs };
}
