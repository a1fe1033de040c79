import { RingBuffer } from '../../../core/base/ring-buffer.ts';
import type { WatchOutput } from './watch-output.ts';
import { countEvent, NO_COUNTS, type WatchCounts, type WatchedEvent } from './watched-item.ts';
import type { OpenSessions } from './watched-item.ts';
import type { WatchedFeed } from './watcher.ts';

/** Number of displayed calls from before the start of the command. */
const RECENT_CALLS = 10;
const MAX_RECENT = 200;

/**
 * Counts events and writes them. Before `caughtUp` is called, it only counts. `caughtUp` writes the counts and the last ten calls.
 *
 * Memory: 200 events.
 */
export class WatchFeed {
  readonly #output: WatchOutput;
  readonly #recent = new RingBuffer<{ readonly event: WatchedEvent; readonly results: number }>(MAX_RECENT);
  #isLive: boolean;
  readonly #counts: WatchCounts = { ...NO_COUNTS };
  #results = 0;

  /** @param fromStart  true: writes every event */
  constructor(output: WatchOutput, fromStart: boolean) {
    this.#output = output;
    this.#isLive = fromStart;
  }

  /** Adds calls that started in any run. */
  called(count: number): void {
    this.#counts.calls += count;
  }

  async take(event: WatchedEvent): Promise<void> {
    countEvent(this.#counts, event);
    if (event.type === 'call') this.#results += 1;
    if (this.#isLive) await this.#output.write(event);
    else this.#recent.push({ event, results: this.#results });
  }

  async finish(): Promise<void> {
    if (this.#counts.runs > 0) await this.caughtUp();
    await this.#output.write({ type: 'summary', ...this.#counts });
  }

  /** Marks all following events as live. A second call has no effect. */
  async caughtUp(): Promise<void> {
    if (this.#isLive) return;
    this.#isLive = true;
    const recentEvents = this.#recent.toArray().filter(({ results }) => results > this.#results - RECENT_CALLS);
    this.#recent.clear();
    await this.#output.write({ type: 'caught_up', ...this.#counts, shown: recentEvents.length });
    for (const { event } of recentEvents) await this.#output.write(event);
  }
}

/** Receives the events of every session on a machine. */
export interface MachineFeed extends WatchedFeed {
  /** Called after each scan for sessions. */
  scanned(open: OpenSessions): Promise<void>;
  /** Stops following a run here, because it is followed in another source. */
  drop(run: string): void;
  finish(): Promise<void>;
}

/** Writes the events since a given time. Writes the start of a run before its first event. Memory: one event per run. */
export class LinesFeed implements MachineFeed {
  readonly #output: WatchOutput;
  readonly #sinceMs: number;
  readonly #starts = new Map<string, WatchedEvent>();
  readonly #counts = { ...NO_COUNTS };
  #isFirstScan = true;

  /** @param sinceMs  Unix milliseconds; events without a time are always written */
  constructor(output: WatchOutput, sinceMs: number) {
    this.#output = output;
    this.#sinceMs = sinceMs;
  }

  called(count: number): void {
    this.#counts.calls += count;
  }

  async take(event: WatchedEvent): Promise<void> {
    countEvent(this.#counts, event);
    if (event.type === 'run_started') this.#starts.set(event.run, event);
    else if ((event.atMs ?? this.#sinceMs) >= this.#sinceMs) {
      const start = this.#starts.get(event.run);
      this.#starts.delete(event.run);
      if (start !== undefined) await this.#output.write(start);
      await this.#output.write(event);
    }
  }

  async scanned(): Promise<void> {
    if (!this.#isFirstScan) return;
    this.#isFirstScan = false;
    const message =
      'following every session of the last half hour, and new ones; nothing reaches the agents; Ctrl-C ends it';
    await this.#output.write({ type: 'note', message });
  }

  drop(run: string): void {
    this.#starts.delete(run);
  }

  finish(): Promise<void> {
    return this.#output.write({ type: 'summary', ...this.#counts });
  }
}
