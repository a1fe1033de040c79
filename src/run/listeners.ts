import { AsyncLocalStorage } from 'node:async_hooks';

import { messageOf } from '../base/error.ts';
import type { AgentEvent } from '../records/agent-event.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';

/**
 * Hears what happens, as it happens: for a user interface, a log, a notification. Both members are called soon after, in
 * order, never within what they are told about. What one throws, or rejects, is counted in `health()` and reaches nobody else;
 * what it returns is not waited for.
 */
export interface EventSink {
  /** A record as it goes to the store, after redaction. Patterns, advice and the end of a run are records too. */
  record?(record: TrajectoryRecord): unknown;
  /** A streaming delta as the host gave it: not redacted, and never recorded. */
  delta?(event: AgentEvent, runId: string): unknown;
  /** How much of what it heard it could not pass on: `health()` shows the sum. */
  dropped?(): number;
}

/** How listeners are doing. Plain JSON. */
export interface ListenerHealth {
  /** Times that one threw or rejected. */
  readonly faults: number;
  readonly lastFault: string;
  /** What listeners could not pass on, such as spans to a collector that does not answer; absent while there is none. */
  readonly dropped?: number;
}

interface Listener {
  readonly sink: EventSink;
  /** Undefined: it hears every run. */
  readonly runId: string | undefined;
}

/** Items that wait for their listeners, at most; a host that never lets go of the thread loses the rest. */
const MAX_WAITING = 10_000;

/** The listeners of a process. Cost: nothing to speak of while there is none. */
export class Listeners {
  readonly #listeners = new Set<Listener>();
  #waiting: (() => void)[] = [];
  #faults = 0;
  #lastFault = '';
  /** By listeners that were taken off. */
  #droppedBefore = 0;

  /** @returns takes the listener off */
  add(sink: EventSink, runId?: string): () => void {
    const listener: Listener = { sink, runId };
    this.#listeners.add(listener);
    return () => {
      if (this.#listeners.delete(listener)) this.#droppedBefore += sink.dropped?.() ?? 0;
    };
  }

  record(record: TrajectoryRecord): void {
    if (this.#listeners.size > 0) this.#later(record.run_id, (sink) => sink.record?.(record));
  }

  delta(event: AgentEvent, runId: string): void {
    if (this.#listeners.size > 0) this.#later(runId, (sink) => sink.delta?.(event, runId));
  }

  /** Undefined while nothing went wrong. */
  health(): ListenerHealth | undefined {
    let dropped = this.#droppedBefore;
    for (const { sink } of this.#listeners) dropped += sink.dropped?.() ?? 0;
    if (this.#faults === 0 && dropped === 0) return undefined;
    return { faults: this.#faults, lastFault: this.#lastFault, ...(dropped === 0 ? {} : { dropped }) };
  }

  #later(runId: string | undefined, tell: (sink: EventSink) => unknown): void {
    const meant = [...this.#listeners].filter((listener) => listener.runId === undefined || listener.runId === runId);
    if (meant.length === 0) return;
    if (this.#waiting.length >= MAX_WAITING) {
      this.#fault(new Error(`more than ${MAX_WAITING} items wait for listeners; the rest is dropped`));
      return;
    }
    if (this.#waiting.length === 0) queueMicrotask(() => this.#drain());
    // Whoever adds to a trace does so where the run is, not where the first of those that wait was.
    const inContext = AsyncLocalStorage.snapshot();
    this.#waiting.push(() =>
      inContext(() => {
        for (const { sink } of meant) this.#tell(sink, tell);
      }),
    );
  }

  #drain(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const next of waiting) next();
  }

  #tell(sink: EventSink, tell: (sink: EventSink) => unknown): void {
    try {
      const answer = tell(sink);
      if (answer instanceof Promise) answer.catch((error: unknown) => this.#fault(error));
    } catch (error) {
      this.#fault(error);
    }
  }

  #fault(error: unknown): void {
    this.#faults += 1;
    this.#lastFault = messageOf(error);
  }
}
