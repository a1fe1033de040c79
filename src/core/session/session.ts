import type { Clock } from '../base/clock.ts';
import { type EventInput, type EventType, type SessionEvent, isDefinitionName } from './define-event.ts';
import type { Slice, SliceView } from './define-slice.ts';
import { type FaultHandler, type SessionFault, FAULT_CODES } from './fault-log.ts';
import { CoxswainError } from '../base/error.ts';
import { isJsonObject, type Json } from '../base/json.ts';
import { copyJson } from './copy-json.ts';

/** The state of a run: typed slices, changed only by `dispatch`, which processes its event synchronously. */
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

  /** The live view of a slice, the same each time; registers it if necessary. Throws CoxswainError as `register`. */
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
  /** Shares values with the session, unchecked, for a snapshot that is serialised immediately. Default false. */
  readonly shared?: boolean;
}

/** The schema version that is written. It is also the newest version that is read. */
export const SESSION_SNAPSHOT_VERSION = 1;

export interface SliceSnapshot {
  /** `view.total()`, at least the number of items. */
  readonly total: number;
  /** The retained items, oldest first. */
  readonly items: readonly Json[];
}

/** The state of a session as plain JSON. */
export interface SessionSnapshot {
  readonly schema_version: number;
  /** The number of processed events, which is also the index of the next event. */
  readonly event_count: number;
  readonly fault_count: number;
  /** The last faults, at most 100, oldest first. */
  readonly faults: readonly SessionFault[];
  readonly slices: Readonly<Record<string, SliceSnapshot>>;
}

/** Ignores unknown members, checks no items. Throws CoxswainError "snapshot-version" if newer or malformed (`details.path`). */
export function decodeSnapshot(value: unknown): SessionSnapshot {
  const snapshot = objectAt(value, 'snapshot');
  const version = countAt(snapshot['schema_version'], 'schema_version', 1);
  if (version > SESSION_SNAPSHOT_VERSION) {
    throw new CoxswainError(
      'snapshot-version',
      `session snapshot has schema_version ${version}; this version reads up to ${SESSION_SNAPSHOT_VERSION}, so update coxswain`,
      { details: { path: 'schema_version', found: version, newest: SESSION_SNAPSHOT_VERSION } },
    );
  }
  const faults = arrayAt(snapshot['faults'], 'faults').map((fault, index) => decodeFault(fault, `faults[${index}]`));
  const slices = Object.entries(objectAt(snapshot['slices'], 'slices'));
  return {
    schema_version: version,
    event_count: countAt(snapshot['event_count'], 'event_count', 0),
    fault_count: countAt(snapshot['fault_count'], 'fault_count', faults.length),
    faults,
    slices: Object.fromEntries(slices.map(([name, slice]) => [name, decodeSlice(name, slice)])),
  };
}

function decodeSlice(name: string, value: unknown): SliceSnapshot {
  const path = `slices.${name}`;
  if (!isDefinitionName(name)) throw malformedSnapshot(path, 'a slice name');
  const slice = objectAt(value, path);
  const items = arrayAt(slice['items'], `${path}.items`).map((item, index) =>
    copyJson(item, `${path}.items[${index}]`, 'snapshot-version'),
  );
  return { total: countAt(slice['total'], `${path}.total`, items.length), items };
}

function decodeFault(value: unknown, path: string): SessionFault {
  const fault = objectAt(value, path);
  const slice = fault['slice'];
  return Object.freeze({
    code: faultCode(fault['code'], `${path}.code`),
    message: textAt(fault['message'], `${path}.message`),
    eventType: textAt(fault['eventType'], `${path}.eventType`),
    eventIndex: countAt(fault['eventIndex'], `${path}.eventIndex`, 0),
    atMs: finiteAt(fault['atMs'], `${path}.atMs`),
    ...(slice === undefined ? {} : { slice: textAt(slice, `${path}.slice`) }),
  });
}

function faultCode(value: unknown, path: string): SessionFault['code'] {
  const code = FAULT_CODES.find((known) => known === value);
  if (code === undefined) throw malformedSnapshot(path, 'a fault code');
  return code;
}

function objectAt(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (isJsonObject(value)) return value;
  throw malformedSnapshot(path, 'an object');
}

function arrayAt(value: unknown, path: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw malformedSnapshot(path, 'an array');
}

function textAt(value: unknown, path: string): string {
  if (typeof value === 'string') return value;
  throw malformedSnapshot(path, 'a string');
}

function finiteAt(value: unknown, path: string): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw malformedSnapshot(path, 'a number');
}

function countAt(value: unknown, path: string, minimum: number): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= minimum) return value;
  throw malformedSnapshot(path, `a whole number from ${minimum}`);
}

function malformedSnapshot(path: string, expected: string): CoxswainError {
  return new CoxswainError('snapshot-version', `not a session snapshot: ${path} is not ${expected}`, {
    details: { path, expected },
  });
}
