import { patternJson } from '../../../core/facts/run-facts.ts';
import { present } from '../../../core/base/json.ts';
import { liveLines, type LiveTextOptions } from '../../runs/live-event.ts';
import { countOf, countText } from '../../../core/base/number-text.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { printable, printableCut, outputLine } from '../../../core/base/printable.ts';
import { taskTitle } from '../../../core/facts/task-title.ts';
import { outcomeText } from '../../runs/run-blocks.ts';
import type { Standing } from '../../runs/run-standing.ts';
import { type WatchCounts, type WatchedEvent, type WatchedItem, countEvent, NO_COUNTS } from './watched-item.ts';
import { RingBuffer } from '../../../core/base/ring-buffer.ts';
import type { WatchedFeed } from './watcher.ts';

const ID_CHARS = 80;
const TASK_CHARS = 76;
const MESSAGE_CHARS = 500;
const MIN_CHARS = 40;

export type WatchOutput = (item: WatchedItem) => Promise<void>;

export function jsonOutput(terminal: Terminal): WatchOutput {
  return (item) =>
    terminal.write(outputLine(item.type === 'pattern' ? { ...item, pattern: patternJson(item.pattern) } : item));
}

export function textOutput(terminal: Terminal): WatchOutput {
  const { isWatched, paint } = terminal;
  const labels = new Set<string>();
  const linesOfItem = (item: WatchedItem): readonly string[] => {
    switch (item.type) {
      case 'note':
        return [paint('dim', `— ${printableCut(item.message, MESSAGE_CHARS)}`)];
      case 'caught_up':
        return [
          paint('dim', item.runs === 0 ? '— no records yet; waiting' : `— read ${countsText(item)}; the last ones:`),
        ];
      case 'summary':
        return [`watched ${countsText(item)}`];
      default: {
        labels.add(item.label);
        const prefix = labels.size > 1 ? `${printable(item.label)} ` : '';
        const options = { paint, width: terminal.width - prefix.length, wrap: isWatched };
        return linesOf(item, options).map((line) => `${paint('cyan', prefix)}${line}`);
      }
    }
  };
  return (item) =>
    terminal.write(
      linesOfItem(item)
        .map((line) => `${line}\n`)
        .join(''),
    );
}

function linesOf(event: WatchedEvent, options: LiveTextOptions): readonly string[] {
  const { paint } = options;
  switch (event.type) {
    case 'run_started': {
      const { run, format, parentRun, task } = event;
      const by = parentRun === undefined ? '' : `, started by ${printableCut(parentRun, ID_CHARS)}`;
      return [
        paint('bold', `● ${printableCut(taskTitle(task ?? '') ?? 'a run started', TASK_CHARS)}`),
        paint('dim', `  ${printable(format)}, run ${printableCut(run, ID_CHARS)}${by}`),
      ];
    }
    case 'run_ended': {
      const { evidence, run, outcome, success } = event;
      const end =
        evidence === undefined ? outcomeText({ outcome, ...present({ success }) }) : printableCut(evidence, 160);
      return [`${paint('bold', `■ ${end}`)}${paint('dim', `, run ${printableCut(run, ID_CHARS)}`)}`];
    }
    case 'alert':
      return [`  ${paint('yellow', '?')} ${printableCut(`it ${event.text}`, Math.max(MIN_CHARS, options.width - 4))}`];
    default:
      return liveLines(event, options);
  }
}

function countsText({ runs, calls, patterns, advice }: WatchCounts): string {
  const pieces = advice === 1 ? '1 piece of advice' : `${countText(advice)} pieces of advice`;
  return `${countOf(runs, 'run')}, ${countOf(calls, 'call')}, ${countOf(patterns, 'pattern')}, ${pieces}`;
}

const RECENT_CALLS = 10;
const MAX_RECENT = 200;

/** Before `caughtUp`, it only counts. `caughtUp` writes the counts and the last ten calls. Memory: 200 events. */
export class WatchFeed {
  readonly #output: WatchOutput;
  readonly #recent = new RingBuffer<{ readonly event: WatchedEvent; readonly results: number }>(MAX_RECENT);
  #isLive: boolean;
  readonly #counts: WatchCounts = { ...NO_COUNTS };
  #results = 0;

  constructor(output: WatchOutput, fromStart: boolean) {
    this.#output = output;
    this.#isLive = fromStart;
  }

  called(count: number): void {
    this.#counts.calls += count;
  }

  async take(event: WatchedEvent): Promise<void> {
    countEvent(this.#counts, event);
    if (event.type === 'call') this.#results += 1;
    if (this.#isLive) await this.#output(event);
    else this.#recent.push({ event, results: this.#results });
  }

  async finish(): Promise<void> {
    if (this.#counts.runs > 0) await this.caughtUp();
    await this.#output({ type: 'summary', ...this.#counts });
  }

  async caughtUp(): Promise<void> {
    if (this.#isLive) return;
    this.#isLive = true;
    const recentEvents = this.#recent.toArray().filter(({ results }) => results > this.#results - RECENT_CALLS);
    this.#recent.clear();
    await this.#output({ type: 'caught_up', ...this.#counts, shown: recentEvents.length });
    for (const { event } of recentEvents) await this.#output(event);
  }
}

export interface MachineFeed extends WatchedFeed {
  scanned(standing: Standing | undefined): Promise<void>;
  drop(run: string): void;
  finish(): Promise<void>;
}

export class LinesFeed implements MachineFeed {
  readonly #output: WatchOutput;
  readonly #sinceMs: number;
  readonly #starts = new Map<string, WatchedEvent>();
  readonly #counts = { ...NO_COUNTS };
  #isFirstScan = true;

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
      if (start !== undefined) await this.#output(start);
      await this.#output(event);
    }
  }

  async scanned(): Promise<void> {
    if (!this.#isFirstScan) return;
    this.#isFirstScan = false;
    const message =
      'following every session of the last half hour, and new ones; nothing reaches the agents; Ctrl-C ends it';
    await this.#output({ type: 'note', message });
  }

  drop(run: string): void {
    this.#starts.delete(run);
  }

  finish(): Promise<void> {
    return this.#output({ type: 'summary', ...this.#counts });
  }
}
