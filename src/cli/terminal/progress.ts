import { basename } from 'node:path';

import { systemClock, type Clock } from '../../base/clock.ts';
import { countOf, countText, durationText } from '../../base/number-text.ts';
import { bytesText } from './number-text.ts';
import { printableCut } from './printable.ts';
import type { Terminal } from './terminal.ts';

/** Work that is over sooner shows no bar. */
const SHOW_AFTER_MS = 500;
const REDRAW_EVERY_MS = 100;
const BAR_CELLS = 20;

/** A bar on standard error for work that takes long; nothing where that is no terminal. */
export class Progress {
  readonly #terminal: Terminal;
  readonly #clock: Clock;
  readonly #startedAtMs: number;
  #drawnAtMs = 0;
  #path = '';
  #runs = 0;
  #read = 0;
  #total: number | undefined;
  #found = 0;
  #done = 0;
  #sizes: readonly number[] = [];
  #allBytes = 0;
  #doneBytes = 0;

  constructor(terminal: Terminal, clock: Clock = systemClock) {
    this.#terminal = terminal;
    this.#clock = clock;
    this.#startedAtMs = clock.nowMs();
  }

  /** So many sources were found so far. */
  found(count: number): void {
    this.#found = count;
    this.#draw();
  }

  /** All sources in order, with their sizes: from now on the progress is that of all of them. */
  total(sources: readonly (readonly [path: string, sizeBytes: number])[]): void {
    this.#found = sources.length;
    this.#allBytes = sources.reduce((sum, [, size]) => sum + size, 0);
    this.#sizes = sources.map(([, size]) => size);
  }

  /** Another source begins. */
  source(path: string): void {
    if (this.#path !== '') {
      this.#doneBytes += this.#sizes[this.#done] ?? 0;
      this.#done += 1;
    }
    this.#path = path;
    this.bytes(0, undefined);
  }

  /** One more run was read. */
  run(): void {
    this.#runs += 1;
    this.#draw();
  }

  /** So much of the source was read, of so much where that is known. */
  bytes(read: number, total: number | undefined): void {
    this.#read = read;
    this.#total = total;
    this.#draw();
  }

  /** Takes the bar away. */
  end(): void {
    this.#terminal.status('');
  }

  #draw(): void {
    if (!this.#terminal.showsStatus) return;
    const now = this.#clock.nowMs();
    if (now - this.#startedAtMs < SHOW_AFTER_MS || now - this.#drawnAtMs < REDRAW_EVERY_MS) return;
    this.#drawnAtMs = now;
    if (this.#found > 1) {
      this.#show(this.#allBytes === 0 ? [`${countOf(this.#found, 'file')} found`] : this.#ofAll(now));
      return;
    }
    this.#show([
      ...(this.#total === undefined || this.#total === 0
        ? [bytesText(this.#read)]
        : [bar(this.#read / this.#total), `${bytesText(this.#read)} of ${bytesText(this.#total)}`]),
      countOf(this.#runs, 'run'),
      printableCut(basename(this.#path), 60),
    ]);
  }

  #ofAll(now: number): readonly string[] {
    const share = Math.min(1, (this.#doneBytes + Math.min(this.#read, this.#sizes[this.#done] ?? 0)) / this.#allBytes);
    const leftMs = share === 0 ? undefined : ((now - this.#startedAtMs) * (1 - share)) / share;
    const left =
      leftMs === undefined ? [] : [leftMs < 60_000 ? 'less than a minute left' : `about ${durationText(leftMs)} left`];
    return [
      bar(share),
      `${countText(this.#done)} of ${countOf(this.#found, 'file')}`,
      countOf(this.#runs, 'run'),
      ...left,
    ];
  }

  #show(facts: readonly string[]): void {
    this.#terminal.status(facts.join('  ').slice(0, Math.max(0, this.#terminal.columns - 1)));
  }
}

function bar(share: number): string {
  const filled = Math.round(Math.min(1, share) * BAR_CELLS);
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_CELLS - filled)}`;
}
