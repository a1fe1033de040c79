import type { Clock } from '../base/clock.ts';
import type { EventInput, EventType, SessionEvent } from './define-event.ts';
import type { Slice, SliceView } from './define-slice.ts';
import type { FaultHandler, SessionFault } from './fault-log.ts';
import type { SessionSnapshot } from './session-snapshot.ts';

/**
 * The state of one agent run. The state consists of typed slices that are computed from events. Each `dispatch` processes
 * its event synchronously. Nothing else changes a slice.
 */
export interface Session {
  /** The task given to the agent, if known. Not part of a snapshot. */
  readonly task: string | undefined;

  /**
   * Folds an event. The session runs every reducer of the event's type (slices in order of registration, reducers in order
   * of `on`), then the subscribers. Events dispatched by these wait in a FIFO queue. They are processed before the
   * outermost `dispatch` returns.
   *
   * `atMs` is the event's own time, else the time of its cause, else the clock's time. A replay with the same times
   * therefore gives the same state. Causes may be 16 events deep, and one outermost dispatch may cause 1,000 events.
   * Further events are refused with a `dispatch-depth` fault.
   *
   * Exceptions of reducers, subscribers and `onFault` are not thrown; see `faults`.
   *
   * @throws CoxswainError "invalid-argument" if `event.atMs` is not a finite number
   *
   * Cost: O(reducers + subscribers of that type), whatever the number of earlier events.
   */
  dispatch(event: EventInput<unknown>): void;

  /**
   * Returns the live view of a slice, which is the same object each time. Registers the slice if necessary.
   *
   * @throws CoxswainError "invalid-definition" as `register`
   */
  slice<Item>(slice: Slice<Item>): SliceView<Item>;

  /**
   * Registers a slice, which folds events from now on. If a restored snapshot contains the slice, it starts with that
   * content. Otherwise it starts empty. Registering the same slice again does nothing.
   *
   * @throws CoxswainError "invalid-definition" if another slice with that name is registered (`on` returns another slice),
   *   or if another event type with one of its names is in use
   */
  register(slice: Slice<unknown>): void;

  /**
   * Calls `handler` after each folded event of a type. The handler may dispatch. An exception or a rejection is recorded as
   * a fault. A returned promise is not awaited.
   *
   * @returns a function that ends the subscription
   * @throws CoxswainError "invalid-definition" if another event type with that name is in use
   */
  subscribe<Data>(eventType: EventType<Data>, handler: (event: SessionEvent<Data>) => unknown): () => void;

  /** Exact number of processed events. */
  eventCount(): number;

  /** Returns true if an event of the type was processed since the session was created or restored. Notes 1,000 types. */
  hasDispatched(eventType: Pick<EventType<never>, 'eventName'>): boolean;

  /** The last faults, at most 100, oldest first. */
  faults(): readonly SessionFault[];

  /** Exact number of faults. */
  faultCount(): number;

  /**
   * Returns the state as plain JSON. It includes slices of a restored snapshot that are not registered. It does not include
   * subscriptions.
   *
   * @throws CoxswainError "invalid-argument" if an item is not JSON (the message names slice and path), or if called inside
   *   a dispatch
   *
   * Cost: one copy of the retained items.
   */
  snapshot(options?: SnapshotOptions): SessionSnapshot;
}

export interface SessionOptions {
  /** The clock is read once per outermost dispatch of an event without `atMs`. */
  readonly clock: Clock;
  /** The task given to the agent, for detectors such as drift. Default: unknown. */
  readonly task?: string;
  /** Slices that are registered in this order, after `ToolInvoked` and `ToolCallCount`. Default: none. */
  readonly slices?: readonly Slice<unknown>[];
  /** Limits by slice name that are lower than the slices' own `retain`. Totals stay exact. Default: none. */
  readonly retain?: Readonly<Record<string, number>>;
  /** Called for each fault. Default: faults are only recorded. */
  readonly onFault?: FaultHandler;
  /** Removes secrets from fault messages. Must not throw. Default: no change. */
  readonly redact?: (text: string) => string;
}

export interface SnapshotOptions {
  /**
   * The snapshot shares values with the session, and its items are not checked. Use it for a snapshot that is serialised
   * immediately. Default false.
   */
  readonly shared?: boolean;
}
