import { checkDefinitionName } from './definition-name.ts';
import type { JsonLike } from './json-like.ts';

/** The argument of `session.dispatch`. Plain JSON. */
export interface EventInput<Data> {
  readonly type: string;
  readonly data: Data;
  /** Unix milliseconds; default: the session's time. */
  readonly atMs?: number;
}

/** An event as reducers and subscribers receive it, with a time and an index. Plain JSON. */
export interface SessionEvent<Data> {
  readonly type: string;
  readonly data: Data;
  /** Unix milliseconds. */
  readonly atMs: number;
  /** 0-based index of the event in the session, without gaps. */
  readonly index: number;
}

export interface EventOptions {
  /** Unix milliseconds; default: the session's time. */
  readonly atMs?: number;
}

type EventArguments<Data> = [Data] extends [null]
  ? [data?: null, options?: EventOptions]
  : [data: Data, options?: EventOptions];

/** A named type of event. Call it to create an event. */
export interface EventType<Data> {
  (...input: EventArguments<Data>): EventInput<Data>;
  readonly eventName: string;
  /** Returns true if the event has this type's name. */
  is<Event extends EventInput<unknown>>(event: Event): event is Event & EventInput<Data>;
}

/**
 * Defines an event type. The name is stored, so it must not change between versions. A session refuses two event types with
 * the same name.
 *
 * `Data` must be plain JSON. Leave it out for an event without data: `const Check = defineEvent('check')`,
 * `session.dispatch(Check())`.
 *
 * @throws CoxswainError "invalid-definition" if the name does not match `^[a-z0-9][a-z0-9._/-]{0,63}$`
 */
export function defineEvent<Data extends JsonLike<Data> = null>(name: string): EventType<Data> {
  checkDefinitionName('event', name);
  const create = (...[data, options]: EventArguments<Data>): EventInput<Data> => {
    // Only an event whose `Data` is `null` may be created without data.
    const event = { type: name, data: (data ?? null) as Data };
    return options?.atMs === undefined ? event : { ...event, atMs: options.atMs };
  };
  const is = <Event extends EventInput<unknown>>(event: Event): event is Event & EventInput<Data> =>
    event.type === name;
  return Object.freeze(Object.assign(create, { eventName: name, is }));
}
