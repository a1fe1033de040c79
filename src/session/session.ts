import type { Clock } from '../base/clock.ts';
import type { EventInput, EventType, SessionEvent } from './define-event.ts';
import type { Slice, SliceView } from './define-slice.ts';
import type { FaultHandler, SessionFault } from './fault-log.ts';
import type { SessionSnapshot } from './session-snapshot.ts';

/**
 * The state of one agent run as typed slices, folded from events. One `dispatch` is one synchronous fold; nothing else
 * changes a slice.
 */
export interface Session {
  /** The task given to the agent, if known. Not part of a snapshot. */
  readonly task: string | undefined;

  /**
   * Folds an event: runs every reducer of its type (slices in order of registration, reducers in order of `on`), then its
   * subscribers. Events that these dispatch wait in a FIFO queue and are processed before the outermost `dispatch` returns.
   *
   * `atMs` is the event's own time, else its cause's, else the clock's, so a replay with the same times gives the same
   * state. Causes may be 16 events deep, and one outermost dispatch may cause 1,000 events; others are refused with a
   * `dispatch-depth` fault.
   *
   * Never throws for reducers, subscribers or `onFault`: see `faults`.
   *
   * @throws CoxswainError "invalid-argument" if `event.atMs` is not a finite number
   * Cost: O(reducers + subscribers of that type), whatever the number of earlier events.
   */
  dispatch(event: EventInput<unknown>): void;

  /**
   * Returns the live view of a slice, the same object each time. Registers the slice if necessary.
   *
   * @throws CoxswainError "invalid-definition" as `register`
   */
  slice<Item>(slice: Slice<Item>): SliceView<Item>;

  /**
   * Registers a slice, which folds events from now on. It starts with its content in the restored snapshot, else empty.
   * Registering the same slice again does nothing.
   *
   * @throws CoxswainError "invalid-definition" if another slice with that name is registered (`on` returns another
   *   slice), or another event type with one of its names is in use
   */
  register(slice: Slice<unknown>): void;

  /**
   * Calls `handler` after each folded event of a type. It may dispatch. An exception or a rejection is recorded as a fault;
   * a returned promise is not awaited.
   *
   * @returns a function that ends the subscription
   * @throws CoxswainError "invalid-definition" if another event type with that name is in use
   */
  subscribe<Data>(eventType: EventType<Data>, handler: (event: SessionEvent<Data>) => unknown): () => void;

  /** Exact number of processed events. */
  eventCount(): number;

  /** The last faults, at most 100, oldest first. */
  faults(): readonly SessionFault[];

  /** Exact number of faults. */
  faultCount(): number;

  /**
   * The state as plain JSON, including slices of a restored snapshot that are not registered. Without subscriptions.
   *
   * @throws CoxswainError "invalid-argument" if an item is not JSON (the message has slice and path), or inside a dispatch
   * Cost: one copy of the retained items.
   */
  snapshot(options?: SnapshotOptions): SessionSnapshot;
}

export interface SessionOptions {
  /** Read once per outermost dispatch of an event without `atMs`. */
  readonly clock: Clock;
  /** The task given to the agent, for detectors such as drift. Default: unknown. */
  readonly task?: string;
  /** Registered in this order, after `ToolInvoked` and `ToolCallCount`. Default: none. */
  readonly slices?: readonly Slice<unknown>[];
  /** Lower limits than the slices' own `retain`, by slice name; totals stay exact. Default: none. */
  readonly retain?: Readonly<Record<string, number>>;
  /** Called for each fault. Default: faults are only recorded. */
  readonly onFault?: FaultHandler;
  /** Removes secrets from messages of faults. Must not throw. Default: no change. */
  readonly redact?: (text: string) => string;
}

export interface SnapshotOptions {
  /** Shares values with the session and does not check items: for a snapshot that is serialised at once. Default false. */
  readonly shared?: boolean;
}
