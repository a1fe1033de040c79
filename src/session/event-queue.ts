import type { Clock } from '../base/clock.ts';
import { invalidArgument } from '../base/error.ts';
import type { EventInput } from './define-event.ts';

/** Maximum depth of events that cause each other. */
const MAX_DEPTH = 16;

/** Maximum events caused by one outermost dispatch: two per event would be 131,070 at depth 16. */
const MAX_CAUSED = 1000;

export interface QueuedEvent {
  readonly input: EventInput<unknown>;
  /** Unix milliseconds: the event's own time, its cause's or the clock's. */
  readonly atMs: number;
  /** 0 for an outermost event. */
  readonly depth: number;
}

/** @throws CoxswainError "invalid-argument" if the event has a time that is not a finite number */
export function checkEventTime({ atMs, type }: EventInput<unknown>): void {
  if (atMs === undefined || Number.isFinite(atMs)) return;
  throw invalidArgument(`event "${type}": atMs must be a finite number, got ${atMs}`, { details: { type } });
}

/** A FIFO queue of events. */
export class EventQueue {
  readonly #clock: Clock;
  #waiting: QueuedEvent[] = [];
  #caused = 0;
  #current: QueuedEvent | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** True while events are processed. */
  get busy(): boolean {
    return this.#current !== undefined;
  }

  /** @returns the reason of a refusal, else undefined */
  add(input: EventInput<unknown>): string | undefined {
    checkEventTime(input);
    const cause = this.#current;
    if (cause === undefined) {
      this.#waiting.push({ input, atMs: input.atMs ?? this.#clock.nowMs(), depth: 0 });
      return undefined;
    }
    if (cause.depth >= MAX_DEPTH) {
      return `"${input.type}" is not dispatched: "${cause.input.type}" is already ${MAX_DEPTH} events deep; let reducers and subscribers stop causing each other`;
    }
    if (this.#caused >= MAX_CAUSED) {
      return `"${input.type}" is not dispatched: one dispatch has already caused ${MAX_CAUSED} events; dispatch fewer from reducers and subscribers`;
    }
    this.#caused += 1;
    this.#waiting.push({ input, atMs: input.atMs ?? cause.atMs, depth: cause.depth + 1 });
    return undefined;
  }

  /** Processes waiting events and those they cause. Does nothing during a drain. */
  drain(process: (event: QueuedEvent) => void): void {
    if (this.busy) return;
    try {
      // The array grows during the iteration.
      for (const event of this.#waiting) {
        this.#current = event;
        process(event);
      }
    } finally {
      this.#current = undefined;
      this.#waiting = [];
      this.#caused = 0;
    }
  }
}
