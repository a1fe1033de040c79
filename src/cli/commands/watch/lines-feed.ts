import type { OpenSession } from '../../../hosts/claude-code/open-sessions.ts';
import type { WatchOutput } from './watch-output.ts';
import { countEvent, NO_COUNTS, type WatchedEvent } from './watched-item.ts';
import type { WatchedFeed } from './watcher.ts';

/** The open sessions of Claude Code; undefined if unknown. */
export type OpenSessions = ReadonlyMap<string, OpenSession> | undefined;

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
