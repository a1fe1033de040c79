import { saysStuck } from '../../../run-view/seen-pattern.ts';
import { countText } from '../../../base/number-text.ts';
import { jsonLine } from '../../terminal/printable.ts';
import { reportJson, type RunReport } from '../../runs/run-report.ts';
import { runText } from '../../runs/run-text.ts';
import { RunTotals } from '../../runs/run-totals.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { totalsText } from '../../runs/totals-text.ts';

/** More runs than this are not all printed, unless asked for. */
const MAX_HELD = 50;
/** Of more runs, so many of those that were stuck the most. */
const MAX_TOP = 20;

/** Which reports are printed. */
export interface ReportOutputOptions {
  /** Only runs that got stuck. */
  readonly stuckOnly: boolean;
  /** Only the totals. */
  readonly summaryOnly: boolean;
  /** All runs in full, however many. */
  readonly all: boolean;
}

/** Takes the reports of an invocation, one by one. */
export interface ReportOutput {
  add(report: RunReport): Promise<void>;
  /** No more will come. */
  finish(): Promise<void>;
  /** Runs taken so far, also those not printed. */
  readonly runs: number;
}

/** A line of JSON a run, printed at once; with `summaryOnly` one line of totals. */
export class JsonOutput implements ReportOutput {
  readonly #terminal: Terminal;
  readonly #options: ReportOutputOptions;
  readonly #totals = new RunTotals();

  constructor(terminal: Terminal, options: ReportOutputOptions) {
    this.#terminal = terminal;
    this.#options = options;
  }

  get runs(): number {
    return this.#totals.all.runs;
  }

  async add(report: RunReport): Promise<void> {
    this.#totals.add(report);
    const { summaryOnly, stuckOnly } = this.#options;
    if (summaryOnly || (stuckOnly && !saysStuck(report.patterns))) return;
    await this.#terminal.write(jsonLine(reportJson(report)));
  }

  async finish(): Promise<void> {
    if (this.#options.summaryOnly) await this.#terminal.write(jsonLine(this.#totals.toJson()));
  }
}

interface TopRun {
  readonly rank: number;
  readonly report: RunReport;
}

/**
 * Reports for a reader. Up to 50 runs are printed one after the other; of more only the 20 that were stuck the
 * most, then the totals. With `all` every run is printed as it comes.
 *
 * Memory: 50 printed reports and 20 more.
 */
export class TextOutput implements ReportOutput {
  readonly #terminal: Terminal;
  readonly #options: ReportOutputOptions;
  readonly #totals = new RunTotals();
  /** What will be printed; undefined once there is too much. */
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
    const { summaryOnly, stuckOnly, all } = this.#options;
    const stuck = saysStuck(report.patterns);
    if (summaryOnly || (stuckOnly && !stuck)) return;
    if (all) {
      await this.#terminal.write(runText(report, this.#terminal.paint));
      return;
    }
    if (stuck) this.#enterTop(report);
    this.#held?.push(runText(report, this.#terminal.paint));
    if (this.#held !== undefined && this.#held.length > MAX_HELD) this.#held = undefined;
  }

  async finish(): Promise<void> {
    const { paint } = this.#terminal;
    if (this.#held === undefined) await this.#writeTop();
    else for (const text of this.#held) await this.#terminal.write(text);
    const { runs } = this.#totals.all;
    if (runs > 1 || this.#options.summaryOnly)
      await this.#terminal.write((this.#options.summaryOnly ? '' : '\n') + totalsText(this.#totals, paint));
  }

  #enterTop(report: RunReport): void {
    const rank = stuckness(report);
    const last = this.#top.at(-1);
    if (this.#top.length >= MAX_TOP && last !== undefined && last.rank >= rank) return;
    this.#top = [...this.#top, { rank, report }].sort((a, b) => b.rank - a.rank).slice(0, MAX_TOP);
  }

  async #writeTop(): Promise<void> {
    const { paint } = this.#terminal;
    const { runs, stuck } = this.#totals.all;
    for (const { report } of this.#top) await this.#terminal.write(runText(report, paint));
    const shown = this.#top.length;
    const left =
      stuck === 0
        ? 'none of them got stuck'
        : shown === stuck
          ? `shown are the ${countText(stuck)} that got stuck`
          : `shown are the ${shown} stuck the most, of ${countText(stuck)} that got stuck`;
    await this.#terminal.write(`${countText(runs)} runs: ${left}. --all shows every run.\n`);
  }
}

/** How much of a run went into patterns that say stuck. */
function stuckness({ patterns }: RunReport): number {
  let rank = 0;
  for (const { stuck, level, occurrences } of patterns) if (stuck && level !== 'hint') rank += occurrences;
  return rank;
}
