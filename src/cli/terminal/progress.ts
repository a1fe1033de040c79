import { basename } from 'node:path';

import { systemClock, type Clock } from '../../base/clock.ts';
import { bytesText, countOf } from './number-text.ts';
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

  constructor(terminal: Terminal, clock: Clock = systemClock) {
    this.#terminal = terminal;
    this.#clock = clock;
    this.#startedAtMs = clock.nowMs();
  }

  /** Another source begins. */
  source(path: string): void {
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
    const done = [
      ...(this.#total === undefined || this.#total === 0
        ? [bytesText(this.#read)]
        : [bar(this.#read / this.#total), `${bytesText(this.#read)} of ${bytesText(this.#total)}`]),
      countOf(this.#runs, 'run'),
      printableCut(basename(this.#path), 60),
    ];
    this.#terminal.status(done.join('  ').slice(0, Math.max(0, this.#terminal.columns - 1)));
  }
}

function bar(share: number): string {
  const filled = Math.round(Math.min(1, share) * BAR_CELLS);
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_CELLS - filled)}`;
}
