import type { Clock } from '../base/clock.ts';
import type { EventInput, EventType, SessionEvent } from './define-event.ts';
import type { Slice, SliceView } from './define-slice.ts';
import type { FaultHandler, SessionFault } from './fault-log.ts';
import type { SessionSnapshot } from './session-snapshot.ts';

/**
 * The state of one agent run as typed slices, folded from events. One `dispatch` is one synchronous fold; nothing
 * else changes a slice.
 */
export interface Session {
  /** What the agent was asked to do; undefined where nobody said. A snapshot does not hold it. */
  readonly task: string | undefined;

  /**
   * Folds an event: stamps it, runs every reducer of its type (slices in order of registration, reducers in order of
   * `on`), then its subscribers in order of subscription. Events that these dispatch in turn wait in one queue, first
   * in first out, and are processed before the outermost `dispatch` returns.
   *
   * `atMs` is the event's own, else its cause's when it is dispatched by a reducer or subscriber, else the clock's; so
   * a replay with the same times gives the same state. A chain of causes may be 16 events deep and one outermost
   * dispatch may cause 1,000 events; what exceeds either is not dispatched but recorded as a `dispatch-depth` fault.
   *
   * Never throws for what reducers, subscribers or `onFault` do: see `faults`.
   *
   * @throws CoxswainError "invalid-argument" when `event.atMs` is given and not a finite number
   * Cost: O(reducers + subscribers of that type), whatever the number of events before.
   */
  dispatch(event: EventInput<unknown>): void;

  /**
   * A live view of a slice; the same object each time. A slice not yet registered is registered.
   *
   * @throws CoxswainError "invalid-definition" as `register`
   */
  slice<Item>(slice: Slice<Item>): SliceView<Item>;

  /**
   * Registers a slice: from the next event on it is folded. Events before that are not replayed, so it begins empty,
   * or with what a restored snapshot holds under its name. Registering the same slice again does nothing.
   *
   * @throws CoxswainError "invalid-definition" when another slice of that name is registered (`on` makes another
   *   slice), or another event type of a name in use
   */
  register(slice: Slice<unknown>): void;

  /**
   * Calls `handler` after each event of a type is folded. It may throw or, where it is asynchronous, reject: that is
   * recorded as a fault and changes nothing else. It may dispatch. What it returns is not waited for.
   *
   * @returns ends the subscription at once; calling it again does nothing
   * @throws CoxswainError "invalid-definition" when another event type of that name is in use
   */
  subscribe<Data>(eventType: EventType<Data>, handler: (event: SessionEvent<Data>) => unknown): () => void;

  /** Events processed so far, exact. */
  eventCount(): number;

  /** The last faults, at most 100, oldest first. */
  faults(): readonly SessionFault[];

  /** Faults so far, exact. */
  faultCount(): number;

  /**
   * The session as plain JSON. Slices that came with a restored snapshot and were never registered are in it too.
   * Subscriptions are not.
   *
   * @throws CoxswainError "invalid-argument" when an item is not JSON (the message names the slice and path), or
   *   inside a dispatch, where events may still wait
   * Cost: one copy of what is retained.
   */
  snapshot(options?: SnapshotOptions): SessionSnapshot;
}

/** What a session is made from. */
export interface SessionOptions {
  /** Read once per outermost dispatch of an event without `atMs`. */
  readonly clock: Clock;
  /** What the agent was asked to do, for what compares the work with it. Default: nobody knows. */
  readonly task?: string;
  /** Registered in this order, after `ToolInvoked` and `ToolCallCount`, which every session has. Default: none. */
  readonly slices?: readonly Slice<unknown>[];
  /** Most items kept by slice name, where that is less than the slice's own `retain`; totals stay exact. Default: none. */
  readonly retain?: Readonly<Record<string, number>>;
  /** Told of each fault. Default: faults are only recorded. */
  readonly onFault?: FaultHandler;
  /** Takes secrets out of what reducers and subscribers throw, before it is kept. May not throw. Default: it stays as it is. */
  readonly redact?: (text: string) => string;
}

/** How a snapshot is taken. */
export interface SnapshotOptions {
  /** It shares its values with what goes on, and items are not checked: for one that is written down at once. Default false. */
  readonly shared?: boolean;
}
