import type { JsonLike } from './copy-json.ts';
import { invalidDefinition } from '../base/error.ts';

/** The argument of `session.dispatch`. Plain JSON. */
export interface EventInput<Data> {
  readonly type: string;
  readonly data: Data;
  /** Unix milliseconds; default: the session's time. */
  readonly atMs?: number;
}

/** An event as reducers and subscribers receive it, with a time and an index. Plain JSON. */
export interface SessionEvent<Data> extends Required<EventInput<Data>> {
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

const MAX_CHARS = 64;

/** Checks the name of an event type or slice: `^[a-z0-9][a-z0-9._/-]{0,63}$`. */
export function isDefinitionName(name: string): boolean {
  if (name.length === 0 || name.length > MAX_CHARS) return false;
  // The code uses no regular expression, because every process defines its slices at start, and compiling a pattern would
  // take longer.
  for (let index = 0; index < name.length; index += 1) {
    const unit = name.charCodeAt(index);
    const isWord = (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x30 && unit <= 0x39);
    // `-`, `.` and `/` have consecutive character codes.
    if (!isWord && (index === 0 || !((unit >= 0x2d && unit <= 0x2f) || unit === 0x5f))) return false;
  }
  return true;
}

export function checkDefinitionName(kind: 'event' | 'slice', name: string): void {
  if (isDefinitionName(name)) return;
  const rule = 'must be 1 to 64 of a-z, 0-9, ".", "_", "/", "-", beginning with a letter or digit';
  throw invalidDefinition(`${kind} name ${JSON.stringify(name)} ${rule}`, { kind, name });
}
