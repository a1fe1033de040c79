import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { styleText } from 'node:util';

export type Style = 'bold' | 'dim' | 'red' | 'yellow' | 'green' | 'cyan';

export type Paint = (style: Style, text: string) => string;

/** Any input but yes means no, also the end of the input. Undefined if standard input is not a terminal. */
export async function askYesNo(question: string): Promise<boolean | undefined> {
  if (!process.stdin.isTTY) return undefined;
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
    const answer = await Promise.race([lines.question(`${question} [y/N] `), closed]);
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}

export interface TerminalStreams {
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
}

const PLAIN_WIDTH = 120;

/** The output streams of a command. Pass untrusted text through `printable` first. */
export class Terminal {
  /** Paints on a terminal unless `NO_COLOR` is set, and always with `FORCE_COLOR`. */
  readonly paint: Paint;
  readonly #streams: TerminalStreams;
  #status = '';
  #interrupted: (() => void) | undefined;

  constructor(streams: TerminalStreams) {
    this.paint = (style, text) => styleText(style, text, { stream: streams.stdout });
    this.#streams = streams;
  }

  get showsStatus(): boolean {
    return this.#streams.stderr.isTTY === true;
  }

  get columns(): number {
    const { columns = 0 } = this.#streams.stderr;
    // Some terminals report a width of 0.
    return columns > 0 ? columns : 80;
  }

  get isWatched(): boolean {
    return this.#streams.stdout.isTTY === true;
  }

  get width(): number {
    return Number.isFinite(this.lineWidth) ? this.lineWidth : PLAIN_WIDTH;
  }

  /** Maximum length of a line; no limit if standard output is no terminal and `COLUMNS` is not set, because a program may read it. */
  get lineWidth(): number {
    if (!this.isWatched)
      return /^\d{2,3}$/.test(process.env['COLUMNS'] ?? '') ? Number(process.env['COLUMNS']) : Infinity;
    const { columns = 0 } = this.#streams.stdout;
    return columns > 0 ? columns : 80;
  }

  get rows(): number {
    const { rows = 0 } = this.#streams.stdout;
    return rows > 0 ? rows : 24;
  }

  ring(): undefined {
    if (this.showsStatus) this.#streams.stderr.write('\u0007');
  }

  /** Handles the next Ctrl-C instead of ending the process. A further Ctrl-C ends the process. */
  onInterrupt(stop: () => void): void {
    this.#interrupted = stop;
  }

  interrupt(): boolean {
    const stop = this.#interrupted;
    this.#interrupted = undefined;
    stop?.();
    return stop !== undefined;
  }

  /** Writes to standard output. Resolves when the stream accepts more data. */
  async write(text: string): Promise<void> {
    if (this.#streams.stdout.isTTY === true) this.status('');
    if (!this.#streams.stdout.write(text)) await once(this.#streams.stdout, 'drain');
  }

  complain(line: string): void {
    const status = this.#status;
    this.status('');
    this.#streams.stderr.write(`${line}\n`);
    this.status(status);
  }

  status(text: string): void {
    if (!this.showsStatus || text === this.#status) return;
    this.#status = text;
    this.#streams.stderr.write(`\r\u001b[K${text}`);
  }
}
