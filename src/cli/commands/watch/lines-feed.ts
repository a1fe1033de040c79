import type { OpenSession } from '../../../hosts/claude-code/open-sessions.ts';
import type { WatchOutput } from './watch-output.ts';
import type { WatchedEvent } from './watched-item.ts';
import type { WatchedFeed } from './watcher.ts';

/** What a look at the machine found besides records. */
export interface MachineLook {
  readonly nowMs: number;
  /** Sessions of Claude Code that are open; undefined where that is not known. */
  readonly open: ReadonlyMap<string, OpenSession> | undefined;
}

/** Takes what happens in every session of a machine. */
export interface MachineFeed extends WatchedFeed {
  /** The machine was looked at: what is shown should be up to date. */
  look(look: MachineLook): Promise<void>;
  /** The run is followed elsewhere. */
  drop(run: string): void;
  /** Nothing more comes. */
  finish(): Promise<void>;
}

/** Writes what happened since a time, and before the first event of a run its beginning. Memory: an event a run. */
export class LinesFeed implements MachineFeed {
  readonly #output: WatchOutput;
  readonly #sinceMs: number;
  readonly #began = new Map<string, WatchedEvent>();
  readonly #counts = { runs: 0, calls: 0, patterns: 0, advice: 0 };
  #isFirstLook = true;

  /** @param sinceMs  Unix milliseconds; an event without a time counts as later */
  constructor(output: WatchOutput, sinceMs: number) {
    this.#output = output;
    this.#sinceMs = sinceMs;
  }

  called(count: number): void {
    this.#counts.calls += count;
  }

  async take(event: WatchedEvent): Promise<void> {
    if (event.type === 'run_started') this.#counts.runs += 1;
    else if (event.type === 'advice') this.#counts.advice += 1;
    else if (event.type === 'pattern' && event.change === 'flagged') this.#counts.patterns += 1;
    if (event.type === 'run_started') this.#began.set(event.run, event);
    else if ((event.atMs ?? this.#sinceMs) >= this.#sinceMs) {
      const began = this.#began.get(event.run);
      this.#began.delete(event.run);
      if (began !== undefined) await this.#output.write(began);
      await this.#output.write(event);
    }
  }

  async look(): Promise<void> {
    if (!this.#isFirstLook) return;
    this.#isFirstLook = false;
    const message =
      'following every session of the last half hour, and those that begin; nothing reaches the agents; Ctrl-C ends it';
    await this.#output.write({ type: 'note', message });
  }

  drop(run: string): void {
    this.#began.delete(run);
  }

  finish(): Promise<void> {
    return this.#output.write({ type: 'summary', ...this.#counts });
  }
}
