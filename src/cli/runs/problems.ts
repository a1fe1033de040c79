import { CoxswainError, messageOf } from '../../core/base/error.ts';
import { countOf, countText } from '../../core/base/number-text.ts';
import { printable, printableCut } from '../../core/base/printable.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { faultOwners, readFaults } from '../../core/node/fault-log.ts';
import { projectFolderOf } from '../../core/node/git-folder.ts';
import { countSpills } from '../../hosts/claude-code/spilled-events.ts';
import { shownStore } from './open-store.ts';
import { shellWord } from '../terminal/time-text.ts';

/** By run id; losses that name no run are under the empty id. There is no end time: the clock may have been set back. */
export function lostAtEnd(sinceMs = 0): ReadonlyMap<string, number> {
  const { env } = process;
  const projectFolder = projectFolderOf(process.cwd(), env['CLAUDE_PROJECT_DIR']);
  const counts = new Map<string, number>();
  for (const { at, lost, sessionId = '' } of faultOwners({ env, projectFolder }).flatMap(readFaults)) {
    if (lost === undefined || Date.parse(at) < sinceMs) continue;
    counts.set(sessionId, (counts.get(sessionId) ?? 0) + lost);
  }
  return counts;
}

export function lostAtEndText(lostRecords: number): string {
  return `${countOf(lostRecords, 'record')} lost, because a process ended before they were stored (see coxswain doctor)`;
}

export function spillNote(storeAddress: string): { readonly waiting?: string; readonly unusable?: string } {
  const { damaged, folders, refused, waiting } = countSpills(storeAddress);
  const folder = folders.join(', ');
  const events = `${countOf(waiting, 'event')} ${waiting === 1 ? 'waits' : 'wait'} in spill files (${folder})`;
  const unusable = `${folder} holds ${countOf(damaged, 'damaged file')} and ${countOf(refused, 'refused event')}`;
  return {
    ...(waiting > 0 && {
      waiting: `${events}: the next hook records them, or run: coxswain recover ${shellWord(shownStore(storeAddress))}`,
    }),
    ...(damaged + refused > 0 && { unusable }),
  };
}

const MAX_LINES = 10;
const MESSAGE_CHARS = 500;

export interface SourceProblem {
  readonly line?: number | undefined;
  readonly message: string;
}

export class Problems {
  readonly #terminal: Terminal;
  #path = '';
  #lines = 0;
  #any = false;
  #leftOut = 0;
  readonly #isBrief: boolean;
  /** The first damaged line of the source, and how many there are. */
  #damage: { readonly text: string; readonly count: number } | undefined;

  /** @param options.isBrief  true for one line for each file, because `coxswain analyze` of the file has all */
  constructor(terminal: Terminal, { isBrief = false }: { readonly isBrief?: boolean } = {}) {
    this.#terminal = terminal;
    this.#isBrief = isBrief;
  }

  get any(): boolean {
    return this.#any;
  }

  source(path: string): void {
    this.endSource();
    this.#path = path;
  }

  fault(problem: SourceProblem): void {
    this.#any = true;
    this.#report(problem);
  }

  faultIn({ path, ...problem }: SourceProblem & { readonly path: string }): void {
    if (path !== this.#path) this.source(path);
    this.fault(problem);
  }

  faults(problems: readonly (SourceProblem & { readonly path: string })[]): void {
    for (const problem of problems) this.faultIn(problem);
    this.endSource();
  }

  /** Reports data that was repaired or omitted on purpose. */
  note({ line, message }: SourceProblem): void {
    this.#report({ line, message: `note: ${message}` });
  }

  failure(error: unknown): void {
    const line = error instanceof CoxswainError ? error.details['line'] : undefined;
    const message = withoutPath(messageOf(error), this.#path);
    this.fault({
      message: this.#isBrief ? (message.split('. ')[0] ?? message) : message,
      line: typeof line === 'number' ? line : undefined,
    });
  }

  leaveOut(error: unknown, isShown: boolean): void {
    this.#leftOut += 1;
    if (isShown) this.note({ message: withoutPath(messageOf(error), this.#path) });
  }

  endSources(repeatedRuns: number): void {
    const [files, runs] = [this.#leftOut, repeatedRuns];
    if (files > 0) {
      const isAre = files === 1 ? 'is not a trajectory and is' : 'are not trajectories and are';
      this.#terminal.complain(
        `coxswain: ${countOf(files, 'file')} ${isAre} left out; coxswain analyze --verbose gives the reasons`,
      );
    }
    if (runs > 0) {
      const has = runs === 1 ? 'has' : 'have';
      this.#terminal.complain(
        `coxswain: ${countOf(runs, 'run')} ${has} the id of an earlier run; a copy of a run counts as another run`,
      );
    }
  }

  endSource(): void {
    if (this.#damage !== undefined) {
      const { count, text } = this.#damage;
      const more = count === 1 ? '' : `, and ${countText(count - 1)} more; coxswain analyze of the file has more`;
      this.#damage = undefined;
      this.#terminal.complain(`${text}${more}`);
    }
    const leftOutCount = this.#lines - MAX_LINES;
    if (leftOutCount > 0)
      this.#terminal.complain(`coxswain: ${printable(this.#path)}: and ${countText(leftOutCount)} more`);
    this.#lines = 0;
  }

  #report({ line, message }: SourceProblem): void {
    const place = line === undefined ? this.#path : `${this.#path}:${line}`;
    const text = `coxswain: ${printable(place)}: ${printableCut(message, MESSAGE_CHARS)}`;
    if (this.#isBrief && line !== undefined) {
      this.#damage = { text: this.#damage?.text ?? text, count: (this.#damage?.count ?? 0) + 1 };
      return;
    }
    this.#lines += 1;
    if (this.#lines <= MAX_LINES) this.#terminal.complain(text);
  }
}

/** Removes the path from a message, because errors of the importers already contain it. */
function withoutPath(message: string, path: string): string {
  for (const prefix of [`${path}: `, 'standard input: ']) {
    if (message.startsWith(prefix)) return message.slice(prefix.length);
  }
  return message;
}
