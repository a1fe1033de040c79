import { AsyncLocalStorage } from 'node:async_hooks';

import { invalidArgument, messageOf } from '../base/error.ts';
import { LruMap } from '../base/lru-map.ts';
import { PressureFold, type RunPressure } from '../facts/run-pressure.ts';
import type { AgentEvent } from '../records/agent-event.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';

/**
 * Receives records and deltas, for example for a user interface, a log or notifications. The methods are called
 * asynchronously (in a microtask) and in order. Exceptions and rejections are counted in `health()`. A returned promise is
 * not awaited.
 */
export interface EventSink {
  /** Called with each record as stored, after redaction. Patterns, advice and the end of a run are records too. */
  record?(record: TrajectoryRecord): unknown;
  /** Called with each streaming delta. Deltas are neither redacted nor recorded. */
  delta?(event: AgentEvent, runId: string): unknown;
  /** Called once when the context of a run is nearly full, and when it spends or starts subagents faster than sessions do. */
  alert?(alert: RunPressure, runId: string): unknown;
  /** Returns the number of items that this sink could not pass on. `health()` contains the sum over all sinks. */
  dropped?(): number;
}

/** Plain JSON. */
export interface ListenerHealth {
  readonly faults: number;
  readonly lastFault: string;
  /** Number of items that listeners could not pass on, such as spans for an unreachable collector. Absent if it is 0. */
  readonly dropped?: number;
}

interface Listener {
  readonly sink: EventSink;
  readonly runId: string | undefined;
}

/** Maximum number of waiting items. If the host blocks the thread, further items are lost. */
const MAX_WAITING = 10_000;
const MAX_RUNS = 256;

export class Listeners {
  readonly #listeners = new Set<Listener>();
  readonly #folds = new LruMap<PressureFold>(MAX_RUNS);
  #queue: (() => void)[] = [];
  #faults = 0;
  #lastFault = '';
  #droppedBefore = 0;

  add(sink: EventSink, runId?: string): () => void {
    const listener: Listener = { sink, runId };
    this.#listeners.add(listener);
    return () => {
      if (this.#listeners.delete(listener)) this.#droppedBefore += sink.dropped?.() ?? 0;
    };
  }

  record(record: TrajectoryRecord): void {
    if (this.#listeners.size === 0) return;
    this.#notifyLater(record.run_id, (sink) => sink.record?.(record));
    if ([...this.#listeners].some(({ sink }) => sink.alert !== undefined)) this.#alert(record);
  }

  delta(event: AgentEvent, runId: string): void {
    if (this.#listeners.size > 0) this.#notifyLater(runId, (sink) => sink.delta?.(event, runId));
  }

  #alert(record: TrajectoryRecord): void {
    const { parent_run_id: parentId, payload, recorded_at_unix_ms: atMs, run_id: runId = '' } = record;
    const fold = this.#folds.get(runId) ?? new PressureFold();
    this.#folds.set(runId, fold);
    const tell = (id: string, alerts: readonly RunPressure[]): void => {
      for (const alert of alerts) this.#notifyLater(id, (sink) => sink.alert?.(alert, id));
    };
    tell(runId, fold.take(record));
    if (payload.kind !== 'run_started' || parentId === undefined) return;
    tell(parentId, this.#folds.get(parentId)?.child(atMs) ?? []);
  }

  /** Returns undefined if there were no faults. */
  health(): ListenerHealth | undefined {
    let dropped = this.#droppedBefore;
    for (const { sink } of this.#listeners) dropped += sink.dropped?.() ?? 0;
    if (this.#faults === 0 && dropped === 0) return undefined;
    return { faults: this.#faults, lastFault: this.#lastFault, ...(dropped === 0 ? {} : { dropped }) };
  }

  #notifyLater(runId: string | undefined, notify: (sink: EventSink) => unknown): void {
    const targets = [...this.#listeners].filter((listener) => listener.runId === undefined || listener.runId === runId);
    if (targets.length === 0) return;
    if (this.#queue.length >= MAX_WAITING) {
      this.#countFault(new Error(`more than ${MAX_WAITING} items wait for listeners; the rest is dropped`));
      return;
    }
    if (this.#queue.length === 0) queueMicrotask(() => this.#drainQueue());
    // Each item is handled in the async context in which it was emitted. Tracing relies on that.
    const inContext = AsyncLocalStorage.snapshot();
    this.#queue.push(() =>
      inContext(() => {
        for (const { sink } of targets) this.#notifySink(sink, notify);
      }),
    );
  }

  #drainQueue(): void {
    const queue = this.#queue;
    this.#queue = [];
    for (const next of queue) next();
  }

  #notifySink(sink: EventSink, notify: (sink: EventSink) => unknown): void {
    try {
      const result = notify(sink);
      if (result instanceof Promise) result.catch((error: unknown) => this.#countFault(error));
    } catch (error) {
      this.#countFault(error);
    }
  }

  #countFault(error: unknown): void {
    this.#faults += 1;
    this.#lastFault = messageOf(error);
  }
}

/** An item of the channel. `dropped` is the number of items that did not fit before the next item. */
export type ChannelItem =
  | { readonly type: 'record'; readonly record: TrajectoryRecord }
  | { readonly type: 'delta'; readonly runId: string; readonly event: AgentEvent }
  | { readonly type: 'dropped'; readonly count: number };

/** A listener that a single reader iterates with `for await`. */
export interface EventChannel extends EventSink, AsyncIterable<ChannelItem> {
  /** Ends the iteration after the buffered items. */
  close(): void;
}

/**
 * Creates a channel for `listen`. It buffers up to `capacity` items. Further items are dropped and counted, so that a slow
 * reader delays no other code.
 *
 * @param capacity  default 1,000
 * @throws CoxswainError "invalid-argument" if `capacity` is not a whole number from 1
 */
export function eventChannel(capacity = 1_000): EventChannel {
  if (!Number.isInteger(capacity) || capacity < 1) {
    throw invalidArgument(`the capacity of a channel is a whole number from 1, got ${capacity}`);
  }
  const queue: ChannelItem[] = [];
  let dropped = 0;
  let isClosed = false;
  let wake = (): void => undefined;
  const takeItem = (item: ChannelItem): void => {
    if (isClosed) return;
    if (queue.length >= capacity) dropped += 1;
    else {
      if (dropped > 0) queue.push({ type: 'dropped', count: dropped });
      dropped = 0;
      queue.push(item);
    }
    wake();
  };
  const closeChannel = (): void => {
    isClosed = true;
    wake();
  };
  return {
    record: (record) => takeItem({ type: 'record', record }),
    delta: (event, runId) => takeItem({ type: 'delta', runId, event }),
    close: closeChannel,
    async *[Symbol.asyncIterator]() {
      try {
        for (;;) {
          for (let item = queue.shift(); item !== undefined; item = queue.shift()) yield item;
          if (dropped > 0) {
            const count = dropped;
            dropped = 0;
            yield { type: 'dropped', count } as const;
          }
          if (isClosed) return;
          if (queue.length === 0) await new Promise<void>((resolve) => (wake = resolve));
        }
      } finally {
        closeChannel();
      }
    },
  };
}
