import { once } from 'node:events';
import type { Writable } from 'node:stream';

import { paintFor, type Paint } from './paint.ts';

/** The streams a command writes to. */
export interface TerminalStreams {
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
}

/** Line width where standard output is no terminal. */
const PLAIN_WIDTH = 120;

/** Where a command writes. Text from outside must be `printable` before it comes here. */
export class Terminal {
  /** Colours for `write`. */
  readonly paint: Paint;
  readonly #streams: TerminalStreams;
  #status = '';
  #interrupted: (() => void) | undefined;

  constructor(streams: TerminalStreams) {
    this.paint = paintFor(streams.stdout);
    this.#streams = streams;
  }

  /** True when a status line can be shown. */
  get showsStatus(): boolean {
    return this.#streams.stderr.isTTY === true;
  }

  /** Columns of the status line. */
  get columns(): number {
    const { columns = 0 } = this.#streams.stderr;
    // Some terminals do not tell their size, which reads as 0.
    return columns > 0 ? columns : 80;
  }

  /** True when someone watches standard output. */
  get isWatched(): boolean {
    return this.#streams.stdout.isTTY === true;
  }

  /** Columns of a line of standard output. */
  get width(): number {
    if (!this.isWatched) return PLAIN_WIDTH;
    const { columns = 0 } = this.#streams.stdout;
    return columns > 0 ? columns : 80;
  }

  /** Lines of standard output's terminal. */
  get rows(): number {
    const { rows = 0 } = this.#streams.stdout;
    return rows > 0 ? rows : 24;
  }

  /** Rings the terminal's bell, where standard error is one. */
  ring(): undefined {
    if (this.showsStatus) this.#streams.stderr.write('\u0007');
  }

  /** What the next Ctrl-C does, in place of leaving. One more leaves. */
  onInterrupt(stop: () => void): void {
    this.#interrupted = stop;
  }

  /** Ctrl-C was pressed. @returns false when nobody takes care of it */
  interrupt(): boolean {
    const stop = this.#interrupted;
    this.#interrupted = undefined;
    stop?.();
    return stop !== undefined;
  }

  /** Writes to standard output; resolves when more may come. */
  async write(text: string): Promise<void> {
    if (this.#streams.stdout.isTTY === true) this.status('');
    if (!this.#streams.stdout.write(text)) await once(this.#streams.stdout, 'drain');
  }

  /** Writes one line to standard error, above the status line. */
  complain(line: string): void {
    const status = this.#status;
    this.status('');
    this.#streams.stderr.write(`${line}\n`);
    this.status(status);
  }

  /** Replaces the last line of standard error; the empty text takes it away. Nothing where that is no terminal. */
  status(text: string): void {
    if (!this.showsStatus || text === this.#status) return;
    this.#status = text;
    this.#streams.stderr.write(`\r\u001b[K${text}`);
  }
}
