import { RingBuffer } from '../../../base/ring-buffer.ts';
import type { WatchOutput } from './watch-output.ts';
import type { WatchCounts, WatchedEvent } from './watched-item.ts';

/** Of what was there before, so many calls are shown, and what was said at them. */
const RECENT_CALLS = 10;
const MAX_RECENT = 200;

/**
 * Counts what is seen and hands it on. Until `caughtUp` nothing is written; then what was seen is summed up, and the
 * last ten calls are shown.
 *
 * Memory: 200 events.
 */
export class WatchFeed {
  readonly #output: WatchOutput;
  readonly #recent = new RingBuffer<{ readonly event: WatchedEvent; readonly results: number }>(MAX_RECENT);
  #isLive: boolean;
  #runs = 0;
  #calls = 0;
  #results = 0;
  #patterns = 0;
  #advice = 0;

  /** @param fromStart  everything is written at once, also what was there before */
  constructor(output: WatchOutput, fromStart: boolean) {
    this.#output = output;
    this.#isLive = fromStart;
  }

  get counts(): WatchCounts {
    return { runs: this.#runs, calls: this.#calls, patterns: this.#patterns, advice: this.#advice };
  }

  /** More calls have begun in some run. */
  called(count: number): void {
    this.#calls += count;
  }

  async take(event: WatchedEvent): Promise<void> {
    if (event.type === 'run_started') this.#runs += 1;
    else if (event.type === 'call') this.#results += 1;
    else if (event.type === 'advice') this.#advice += 1;
    else if (event.type === 'pattern' && event.change === 'flagged') this.#patterns += 1;
    if (this.#isLive) await this.#output.write(event);
    else this.#recent.push({ event, results: this.#results });
  }

  /** Nothing more comes. */
  async finish(): Promise<void> {
    if (this.#runs > 0) await this.caughtUp();
    await this.#output.write({ type: 'summary', ...this.counts });
  }

  /** What follows happens from now on. A second call does nothing. */
  async caughtUp(): Promise<void> {
    if (this.#isLive) return;
    this.#isLive = true;
    const recent = this.#recent.toArray().filter(({ results }) => results > this.#results - RECENT_CALLS);
    this.#recent.clear();
    await this.#output.write({ type: 'caught_up', ...this.counts, shown: recent.length });
    for (const { event } of recent) await this.#output.write(event);
  }
}
