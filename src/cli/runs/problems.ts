import { CoxswainError, messageOf } from '../../base/error.ts';
import { countText } from '../../base/number-text.ts';
import { printable, printableCut } from '../terminal/printable.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Lines about one source; of more only the number. */
const MAX_LINES = 10;
const MESSAGE_CHARS = 500;

/** Where in a source something was wrong, and what. */
export interface SourceProblem {
  /** 1-based. */
  readonly line?: number | undefined;
  readonly message: string;
}

/** Says on standard error what could not be read: `coxswain: path:12: reason`, a line each. */
export class Problems {
  readonly #terminal: Terminal;
  #path = '';
  #lines = 0;
  #any = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** True once something was lost. */
  get any(): boolean {
    return this.#any;
  }

  /** What follows is about this source. */
  source(path: string): void {
    this.endSource();
    this.#path = path;
  }

  /** Something was lost. */
  fault(problem: SourceProblem): void {
    this.#any = true;
    this.#say(problem);
  }

  /** Something was repaired or left out on purpose. */
  note({ line, message }: SourceProblem): void {
    this.#say({ line, message: `note: ${message}` });
  }

  /** The source could not be read, or not to its end. */
  failure(error: unknown): void {
    const { details } = error instanceof CoxswainError ? error : { details: {} as Readonly<Record<string, unknown>> };
    const line = details['line'];
    this.fault({
      message: withoutPath(messageOf(error), this.#path),
      line: typeof line === 'number' ? line : undefined,
    });
  }

  /** Says how many lines about the source were left out. */
  endSource(): void {
    const left = this.#lines - MAX_LINES;
    if (left > 0) this.#terminal.complain(`coxswain: ${printable(this.#path)}: and ${countText(left)} more`);
    this.#lines = 0;
  }

  #say({ line, message }: SourceProblem): void {
    this.#lines += 1;
    if (this.#lines > MAX_LINES) return;
    const place = line === undefined ? this.#path : `${this.#path}:${line}`;
    this.#terminal.complain(`coxswain: ${printable(place)}: ${printableCut(message, MESSAGE_CHARS)}`);
  }
}

/** Errors of the importers name the path by themselves. */
function withoutPath(message: string, path: string): string {
  for (const prefix of [`${path}: `, 'standard input: ']) {
    if (message.startsWith(prefix)) return message.slice(prefix.length);
  }
  return message;
}
