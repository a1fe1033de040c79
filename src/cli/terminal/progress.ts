import { basename } from 'node:path';

import { systemClock, type Clock } from '../../core/base/clock.ts';
import { countOf, countText, durationText, bytesText } from '../../core/base/number-text.ts';
import { printableCut } from '../../core/base/printable.ts';
import { barText } from '../document/document.ts';
import type { Terminal } from './terminal.ts';

const SHOW_AFTER_MS = 200;
const REDRAW_EVERY_MS = 100;
const ESTIMATE_AFTER_MS = 2_000;

export class Progress {
  readonly #terminal: Terminal;
  readonly #clock: Clock;
  readonly #startedAtMs: number;
  readonly #first: NodeJS.Timeout;
  #drawnAtMs = 0;
  #readingSinceMs = 0;
  #path = '';
  #runs = 0;
  #readBytes = 0;
  #totalBytes: number | undefined;
  #found = 0;
  #done = 0;
  #sizes: readonly number[] = [];
  #allBytes = 0;
  #doneBytes = 0;

  constructor(terminal: Terminal, clock: Clock = systemClock) {
    this.#terminal = terminal;
    this.#clock = clock;
    this.#startedAtMs = clock.nowMs();
    this.#first = setTimeout(() => this.#drawNow(), SHOW_AFTER_MS).unref();
  }

  found(count: number): void {
    this.#found = count;
    this.#draw();
  }

  total(sources: readonly (readonly [path: string, sizeBytes: number])[]): void {
    this.#found = sources.length;
    this.#sizes = sources.map(([, size]) => size);
    this.#allBytes = this.#sizes.reduce((sum, size) => sum + size, 0);
    this.#readingSinceMs = this.#clock.nowMs();
  }

  source(path: string): void {
    if (this.#path !== '') {
      this.#doneBytes += this.#sizes[this.#done] ?? 0;
      this.#done += 1;
    }
    this.#path = path;
    this.bytes(0, undefined);
  }

  run(): void {
    this.#runs += 1;
    this.#draw();
  }

  bytes(read: number, total: number | undefined): void {
    this.#readBytes = read;
    this.#totalBytes = total;
    this.#draw();
  }

  end(): void {
    clearTimeout(this.#first);
    this.#terminal.status('');
  }

  #draw(): void {
    const nowMs = this.#clock.nowMs();
    if (nowMs - this.#startedAtMs >= SHOW_AFTER_MS && nowMs - this.#drawnAtMs >= REDRAW_EVERY_MS) this.#drawNow();
  }

  #drawNow(): void {
    if (!this.#terminal.showsStatus) return;
    this.#drawnAtMs = this.#clock.nowMs();
    this.#terminal.status(
      this.#facts()
        .join('  ')
        .slice(0, Math.max(0, this.#terminal.columns - 1)),
    );
  }

  #facts(): readonly string[] {
    const runs = countOf(this.#runs, 'run');
    if (this.#path === '') {
      if (this.#runs > 0) return [runs];
      return [this.#found === 0 ? 'looking for runs' : `${countOf(this.#found, 'file')} found`];
    }
    const total = this.#totalBytes ?? 0;
    if (this.#found <= 1 || this.#allBytes === 0) {
      const read = bytesText(this.#readBytes);
      const bytes = total === 0 ? [read] : [barText(this.#readBytes / total), `${read} of ${bytesText(total)}`];
      return [...bytes, runs, printableCut(basename(this.#path), 60)];
    }
    const current = Math.min(this.#readBytes, this.#sizes[this.#done] ?? 0);
    const share = Math.min(1, (this.#doneBytes + current) / this.#allBytes);
    return [
      barText(share),
      `${countText(this.#done)} of ${countOf(this.#found, 'file')}`,
      runs,
      ...this.#timeLeft(share),
    ];
  }

  #timeLeft(share: number): readonly string[] {
    const readingMs = this.#clock.nowMs() - this.#readingSinceMs;
    if (share === 0 || readingMs < ESTIMATE_AFTER_MS) return [];
    const leftMs = (readingMs * (1 - share)) / share;
    return [leftMs < 60_000 ? 'less than a minute left' : `about ${durationText(leftMs)} left`];
  }
}
