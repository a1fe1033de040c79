import { countText } from '../../../core/base/number-text.ts';
import { outputLine } from '../../../core/base/printable.ts';
import { factsJson, type RunFacts } from '../../../core/facts/run-facts.ts';
import { runBlocks, totalsBlocks } from '../../runs/run-blocks.ts';
import { RunTotals } from '../../runs/run-totals.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { terminalText } from '../../document/write-document.ts';

const MAX_HELD = 50;
const MAX_TOP = 20;

export interface ReportOutputOptions {
  readonly stuckOnly: boolean;
  readonly summaryOnly: boolean;
  readonly all: boolean;
  /** True: prints one line of JSON per run immediately. With `summaryOnly`: one line with the totals. */
  readonly json?: boolean;
}

export interface ReportOutput {
  add(run: RunFacts): Promise<void>;
  finish(): Promise<void>;
  readonly runs: number;
}

interface TopRun {
  readonly rank: number;
  readonly run: RunFacts;
}

/**
 * Up to 50 runs are printed in full, of more only the 20 with the most stuck patterns; with `all`, every run at once.
 */
export class PrintedOutput implements ReportOutput {
  readonly #terminal: Terminal;
  readonly #options: ReportOutputOptions;
  readonly #totals = new RunTotals();
  /** Texts to print; undefined if there are too many runs. */
  #held: string[] | undefined = [];
  #top: readonly TopRun[] = [];

  constructor(terminal: Terminal, options: ReportOutputOptions) {
    this.#terminal = terminal;
    this.#options = options;
  }

  get runs(): number {
    return this.#totals.all.runs;
  }

  async add(run: RunFacts): Promise<void> {
    this.#totals.add(run);
    const { summaryOnly, stuckOnly, all, json = false } = this.#options;
    const isStuck = run.stuck;
    if (summaryOnly || (stuckOnly && !isStuck)) return;
    if (json || all) {
      await this.#terminal.write(json ? outputLine(factsJson(run)) : this.#textOf(run));
      return;
    }
    if (isStuck) this.#addToTop(run);
    this.#held?.push(this.#textOf(run));
    if (this.#held !== undefined && this.#held.length > MAX_HELD) this.#held = undefined;
  }

  async finish(): Promise<void> {
    const { json = false, summaryOnly } = this.#options;
    if (this.#held === undefined) await this.#writeTop();
    else for (const text of this.#held) await this.#terminal.write(text);
    if (json) {
      if (summaryOnly) await this.#terminal.write(outputLine(this.#totals.toJson()));
    } else if (this.runs > 1 || summaryOnly) {
      const text = terminalText({ blocks: totalsBlocks(this.#totals) }, this.#terminal);
      await this.#terminal.write((summaryOnly ? '' : '\n') + text);
    }
  }

  #textOf(run: RunFacts): string {
    return terminalText({ blocks: runBlocks(run) }, this.#terminal) + (run.patterns.length > 0 ? '\n' : '');
  }

  #addToTop(run: RunFacts): void {
    const rank = stuckness(run);
    const last = this.#top.at(-1);
    if (this.#top.length >= MAX_TOP && last !== undefined && last.rank >= rank) return;
    this.#top = [...this.#top, { rank, run }].sort((a, b) => b.rank - a.rank).slice(0, MAX_TOP);
  }

  async #writeTop(): Promise<void> {
    const { runs, stuck } = this.#totals.all;
    for (const { run } of this.#top) await this.#terminal.write(this.#textOf(run));
    const shownCount = this.#top.length;
    const stuckNote =
      stuck === 0
        ? 'none of them got stuck'
        : shownCount === stuck
          ? `only the ${countText(stuck)} that got stuck are shown`
          : `only the ${shownCount} stuck the most are shown, of ${countText(stuck)} that got stuck`;
    await this.#terminal.write(`${countText(runs)} runs: ${stuckNote}. --all shows every run.\n`);
  }
}

function stuckness({ patterns }: RunFacts): number {
  const stuckPatterns = patterns.filter(({ stuck, level }) => stuck && level !== 'hint');
  return stuckPatterns.reduce((sum, { occurrences }) => sum + occurrences, 0);
}
