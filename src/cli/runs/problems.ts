import { CoxswainError, messageOf } from '../../core/base/error.ts';
import { countOf, countText } from '../../core/base/number-text.ts';
import { printable, printableCut } from '../../core/base/printable.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Maximum number of lines per source. Further problems are counted. */
const MAX_LINES = 10;
const MESSAGE_CHARS = 500;

export interface SourceProblem {
  /** Line number, from 1. */
  readonly line?: number | undefined;
  readonly message: string;
}

/** Reports problems on standard error, one per line: `coxswain: path:12: reason`. */
export class Problems {
  readonly #terminal: Terminal;
  #path = '';
  #lines = 0;
  #any = false;
  #leftOut = 0;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** True if a fault was reported. */
  get any(): boolean {
    return this.#any;
  }

  /** Sets the source of the following problems. */
  source(path: string): void {
    this.endSource();
    this.#path = path;
  }

  /** Reports lost data. */
  fault(problem: SourceProblem): void {
    this.#any = true;
    this.#report(problem);
  }

  /** Reports lost data of this source. Consecutive problems of one source belong together. */
  faultIn({ path, ...problem }: SourceProblem & { readonly path: string }): void {
    if (path !== this.#path) this.source(path);
    this.fault(problem);
  }

  /** Reports lost data of several sources, in the order of the sources. */
  faults(problems: readonly (SourceProblem & { readonly path: string })[]): void {
    for (const problem of problems) this.faultIn(problem);
    this.endSource();
  }

  /** Reports data that was repaired or omitted on purpose. */
  note({ line, message }: SourceProblem): void {
    this.#report({ line, message: `note: ${message}` });
  }

  /** Reports that the source could not be read to its end. */
  failure(error: unknown): void {
    const line = error instanceof CoxswainError ? error.details['line'] : undefined;
    this.fault({
      message: withoutPath(messageOf(error), this.#path),
      line: typeof line === 'number' ? line : undefined,
    });
  }

  /** Counts a file of a folder that is not a trajectory. `isShown`: also reports the reason. */
  leaveOut(error: unknown, isShown: boolean): void {
    this.#leftOut += 1;
    if (isShown) this.note({ message: withoutPath(messageOf(error), this.#path) });
  }

  /** Reports the number of files that were left out, and of runs that are probably counted several times. */
  endSources(repeatedRuns: number): void {
    const [files, runs] = [this.#leftOut, repeatedRuns];
    if (files > 0) {
      const isAre = files === 1 ? 'is not a trajectory and is' : 'are not trajectories and are';
      this.#terminal.complain(`coxswain: ${countOf(files, 'file')} ${isAre} left out; --verbose gives the reasons`);
    }
    if (runs > 0) {
      const has = runs === 1 ? 'has' : 'have';
      this.#terminal.complain(
        `coxswain: ${countOf(runs, 'run')} ${has} the id of an earlier run; a copy of a run counts as another run`,
      );
    }
  }

  /** Reports the number of omitted lines. */
  endSource(): void {
    const leftOutCount = this.#lines - MAX_LINES;
    if (leftOutCount > 0)
      this.#terminal.complain(`coxswain: ${printable(this.#path)}: and ${countText(leftOutCount)} more`);
    this.#lines = 0;
  }

  #report({ line, message }: SourceProblem): void {
    this.#lines += 1;
    if (this.#lines > MAX_LINES) return;
    const place = line === undefined ? this.#path : `${this.#path}:${line}`;
    this.#terminal.complain(`coxswain: ${printable(place)}: ${printableCut(message, MESSAGE_CHARS)}`);
  }
}

/** Removes the path from a message, because errors of the importers already contain it. */
function withoutPath(message: string, path: string): string {
  for (const prefix of [`${path}: `, 'standard input: ']) {
    if (message.startsWith(prefix)) return message.slice(prefix.length);
  }
  return message;
}
