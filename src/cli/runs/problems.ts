import { CoxswainError, messageOf } from '../../base/error.ts';
import { countText } from '../../base/number-text.ts';
import { printable, printableCut } from '../terminal/printable.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Lines per source; further ones are counted. */
const MAX_LINES = 10;
const MESSAGE_CHARS = 500;

export interface SourceProblem {
  /** From 1. */
  readonly line?: number | undefined;
  readonly message: string;
}

/** Reports on standard error what could not be read: `coxswain: path:12: reason`, one per line. */
export class Problems {
  readonly #terminal: Terminal;
  #path = '';
  #lines = 0;
  #any = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** True once there was a fault. */
  get any(): boolean {
    return this.#any;
  }

  /** The following problems are about this source. */
  source(path: string): void {
    this.endSource();
    this.#path = path;
  }

  /** Data was lost. */
  fault(problem: SourceProblem): void {
    this.#any = true;
    this.#report(problem);
  }

  /** Data was repaired, or left out on purpose. */
  note({ line, message }: SourceProblem): void {
    this.#report({ line, message: `note: ${message}` });
  }

  /** The source could not be read to its end. */
  failure(error: unknown): void {
    const line = error instanceof CoxswainError ? error.details['line'] : undefined;
    this.fault({
      message: withoutPath(messageOf(error), this.#path),
      line: typeof line === 'number' ? line : undefined,
    });
  }

  /** Reports the number of lines left out. */
  endSource(): void {
    const left = this.#lines - MAX_LINES;
    if (left > 0) this.#terminal.complain(`coxswain: ${printable(this.#path)}: and ${countText(left)} more`);
    this.#lines = 0;
  }

  #report({ line, message }: SourceProblem): void {
    this.#lines += 1;
    if (this.#lines > MAX_LINES) return;
    const place = line === undefined ? this.#path : `${this.#path}:${line}`;
    this.#terminal.complain(`coxswain: ${printable(place)}: ${printableCut(message, MESSAGE_CHARS)}`);
  }
}

/** Errors of the importers already name the path. */
function withoutPath(message: string, path: string): string {
  for (const prefix of [`${path}: `, 'standard input: ']) {
    if (message.startsWith(prefix)) return message.slice(prefix.length);
  }
  return message;
}
