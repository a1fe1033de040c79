import type { BacktestProgress } from '../../../lab/backtest-options.ts';
import { systemClock, type Clock } from '../../../core/base/clock.ts';
import { barText } from '../../terminal/bar-text.ts';
import { countOf } from '../../../core/base/number-text.ts';
import type { Terminal } from '../../terminal/terminal.ts';

const REDRAW_EVERY_MS = 100;
const CELLS = 20;

/** Shows a progress bar on standard error if standard error is a terminal. */
export class BacktestProgressBar {
  readonly #terminal: Terminal;
  readonly #clock: Clock;
  #drawnAtMs = 0;

  constructor(terminal: Terminal, clock: Clock = systemClock) {
    this.#terminal = terminal;
    this.#clock = clock;
  }

  show({ shards, of, runs }: BacktestProgress): void {
    const now = this.#clock.nowMs();
    if (!this.#terminal.showsStatus || now - this.#drawnAtMs < REDRAW_EVERY_MS) return;
    this.#drawnAtMs = now;
    const text = `${barText(of === 0 ? 1 : shards / of, CELLS)}  ${shards} of ${of} parts  ${countOf(runs, 'run')}`;
    this.#terminal.status(text.slice(0, Math.max(0, this.#terminal.columns - 1)));
  }

  /** Removes the bar. */
  end(): void {
    this.#terminal.status('');
  }
}
