import { saysStuck } from '../../../core/facts/seen-pattern.ts';
import { countText } from '../../../core/base/number-text.ts';
import { jsonLine } from '../../../core/base/printable.ts';
import { reportJson, type RunReport } from '../../runs/run-report.ts';
import { runBlocks, totalsBlocks } from '../../runs/run-blocks.ts';
import { RunTotals } from '../../runs/run-totals.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { terminalText } from '../../document/write-document.ts';

/** Up to this number of runs, every run is printed. */
const MAX_HELD = 50;
/** Maximum number of printed runs beyond that limit. The runs with the most stuck patterns are selected. */
const MAX_TOP = 20;

export interface ReportOutputOptions {
  /** True: prints only runs that got stuck. */
  readonly stuckOnly: boolean;
  /** True: prints only the totals. */
  readonly summaryOnly: boolean;
  /** True: prints every run, regardless of their number. */
  readonly all: boolean;
  /** True: prints one line of JSON per run immediately. With `summaryOnly`: one line with the totals. */
  readonly json?: boolean;
}

/** Receives the reports of the runs. */
export interface ReportOutput {
  add(report: RunReport): Promise<void>;
  finish(): Promise<void>;
  /** Number of received runs, printed or not. */
  readonly runs: number;
}

interface TopRun {
  readonly rank: number;
  readonly report: RunReport;
}

/**
 * Prints reports as text, followed by the totals. Up to 50 runs are printed in full. Of more runs, only the 20 with the most stuck
 * patterns are printed. With `all`, every run is printed immediately.
 *
 * Memory: at most 50 printed reports, and 20 more.
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

  async add(report: RunReport): Promise<void> {
    this.#totals.add(report);
    const { summaryOnly, stuckOnly, all, json = false } = this.#options;
    const isStuck = saysStuck(report.patterns);
    if (summaryOnly || (stuckOnly && !isStuck)) return;
    if (json || all) {
      await this.#terminal.write(json ? jsonLine(reportJson(report)) : this.#textOf(report));
      return;
    }
    if (isStuck) this.#addToTop(report);
    this.#held?.push(this.#textOf(report));
    if (this.#held !== undefined && this.#held.length > MAX_HELD) this.#held = undefined;
  }

  async finish(): Promise<void> {
    const { json = false, summaryOnly } = this.#options;
    if (this.#held === undefined) await this.#writeTop();
    else for (const text of this.#held) await this.#terminal.write(text);
    if (json) {
      if (summaryOnly) await this.#terminal.write(jsonLine(this.#totals.toJson()));
    } else if (this.runs > 1 || summaryOnly) {
      const text = terminalText({ blocks: totalsBlocks(this.#totals) }, this.#terminal);
      await this.#terminal.write((summaryOnly ? '' : '\n') + text);
    }
  }

  /** Formats a run; a run with patterns ends with an empty line. */
  #textOf(report: RunReport): string {
    return terminalText({ blocks: runBlocks(report) }, this.#terminal) + (report.patterns.length > 0 ? '\n' : '');
  }

  #addToTop(report: RunReport): void {
    const rank = stuckness(report);
    const last = this.#top.at(-1);
    if (this.#top.length >= MAX_TOP && last !== undefined && last.rank >= rank) return;
    this.#top = [...this.#top, { rank, report }].sort((a, b) => b.rank - a.rank).slice(0, MAX_TOP);
  }

  async #writeTop(): Promise<void> {
    const { runs, stuck } = this.#totals.all;
    for (const { report } of this.#top) await this.#terminal.write(this.#textOf(report));
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

/** Returns the number of occurrences of stuck patterns in a run. */
function stuckness({ patterns }: RunReport): number {
  const stuckPatterns = patterns.filter(({ stuck, level }) => stuck && level !== 'hint');
  return stuckPatterns.reduce((sum, { occurrences }) => sum + occurrences, 0);
}
