import type { Clock } from '../base/clock.ts';
import { invalidArgument } from '../base/error.ts';
import type { EventInput } from './define-event.ts';

/** Maximum depth of events that cause each other. */
const MAX_DEPTH = 16;

/**
 * Maximum number of events caused by one outermost dispatch. If each event caused two events, depth 16 would give 131,070
 * events.
 */
const MAX_CAUSED = 1000;

export interface QueuedEvent {
  readonly input: EventInput<unknown>;
  /** Unix milliseconds: the event's own time, or the time of its cause, or the clock's time. */
  readonly atMs: number;
  /** 0 for an outermost event. */
  readonly depth: number;
}

/** @throws CoxswainError "invalid-argument" if the event has a time that is not a finite number */
export function checkEventTime({ atMs, type }: EventInput<unknown>): void {
  if (atMs === undefined || Number.isFinite(atMs)) return;
  throw invalidArgument(`event "${type}": atMs must be a finite number, got ${atMs}`, { details: { type } });
}

/** A first-in, first-out queue of events. */
export class EventQueue {
  readonly #clock: Clock;
  #queue: QueuedEvent[] = [];
  #causedCount = 0;
  #currentEvent: QueuedEvent | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** True while events are processed. */
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
