import { writeOutput } from '../../runs/write-output.ts';
import { countText, rangeText, usdText } from '../../../core/base/number-text.ts';
import { inWords } from '../../../core/records/words.ts';
import { csvText, analysedRow, type AnalysedRow } from '../../runs/analysed-rows.ts';
import type { RunReport } from '../../runs/run-report.ts';
import { linesOf, listBlock, sectionOf, type Block } from '../../document/document.ts';
import { terminalText } from '../../document/write-document.ts';
import type { SavedReport } from '../../../lab/backtest-report.ts';
import { ratioOf } from '../../../lab/statistics.ts';
import { intervalText } from '../../runs/run-blocks.ts';
import { jsonLine, printableCut } from '../../../core/base/printable.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import type { ReportOutput } from './report-output.ts';

/** The groups of `--by`: a column of the rows, and the name of the group for rows without a value. */
export const GROUPS = {
  model: ['model', 'not known'],
  task: ['task', 'no task on record'],
  tool: ['first_stuck_tool', 'not stuck, or of no tool'],
  folder: ['folder', '.'],
} as const;

/** Maximum number of printed groups. `--json` prints all groups. */
const MAX_PRINTED = 40;
const NAME_CHARS = 40;
/** Number of example runs per group. */
const SAMPLES = 3;

/** Collects runs as rows, for tables by group and for files. Memory: about 500 bytes per run. */
export class TableOutput implements ReportOutput {
  readonly #rows: AnalysedRow[] = [];

  async add(report: RunReport): Promise<void> {
    this.#rows.push(analysedRow(report));
  }

  get runs(): number {
    return this.#rows.length;
  }

  async finish(): Promise<void> {}

  /** Prints the runs by group, the largest group first. */
  async write(by: keyof typeof GROUPS, isJson: boolean, terminal: Terminal): Promise<void> {
    const [key, unknown] = GROUPS[by];
    const groups = [...Map.groupBy(this.#rows, (row) => row[key] ?? unknown)]
      .map(([name, rows]) => groupOf(name, rows))
      .sort((a, b) => b.runs - a.runs || (a.name < b.name ? -1 : 1));
    if (isJson) {
      for (const group of groups) await terminal.write(jsonLine({ by, ...group }));
      return;
    }
    const hiddenGroups = groups.length - MAX_PRINTED;
    const shown = groups.slice(0, MAX_PRINTED);
    const examples = shown.flatMap(({ name, samples }) =>
      samples.length === 0 ? [] : [{ head: printableCut(name, NAME_CHARS), lines: samples.map(sampleText) }],
    );
    const blocks: readonly Block[] = [
      {
        type: 'table',
        head: [by, 'runs', 'stuck', 'succeeded', 'calls', 'after first flag', 'cost', 'after first flag'],
        rows: shown.map(cellsOf),
      },
      ...(hiddenGroups > 0 ? [linesOf([`and ${countText(hiddenGroups)} more; --json has all`])] : []),
      ...sectionOf('Examples of stuck runs', listBlock(examples)),
    ];
    await terminal.write(terminalText({ blocks }, terminal));
  }

  /**
   * Writes all rows to a file of CSV.
   *
   * @throws CoxswainError `input-io`, and the errors of `checkOutput`
   */
  async save(file: string): Promise<void> {
    await writeOutput(file, csvText(this.#rows));
  }
}

/** The totals of a group. A sum covers only the runs with a known value. */
interface Group {
  readonly name: string;
  readonly runs: number;
  readonly stuck: number;
  readonly succeeded: number;
  /** Number of runs whose source states whether they succeeded. */
  readonly judged: number;
  readonly calls: number;
  readonly callsAfterFlag: number;
  /** `callsAfterFlag` as a share of `calls`, with its 95 % interval over runs. */
  readonly afterFlag: SavedReport;
  readonly costUsd: number | null;
  readonly costAfterFlagUsd: number | null;
  /** Example runs that got stuck. */
  readonly samples: readonly Pick<AnalysedRow, 'id' | 'source' | 'first_stuck_call' | 'first_stuck_pattern'>[];
}

function groupOf(name: string, rows: readonly AnalysedRow[]): Group {
  const sum = (values: readonly (number | null)[]): number | null =>
    values.reduce((total, value) => (value === null ? total : (total ?? 0) + value), null);
  const judgedRows = rows.filter(({ success }) => success !== null);
  const stuckRows = rows.filter((row) => row.stuck);
  return {
    name,
    runs: rows.length,
    stuck: stuckRows.length,
    succeeded: judgedRows.filter(({ success }) => success === true).length,
    judged: judgedRows.length,
    calls: sum(rows.map(({ calls }) => calls)) ?? 0,
    callsAfterFlag: sum(rows.map((row) => row.calls_after_flag)) ?? 0,
    afterFlag: ratioOf(rows.map((row) => ({ part: row.calls_after_flag ?? 0, whole: row.calls }))),
    costUsd: sum(rows.map((row) => row.cost_usd)),
    costAfterFlagUsd: sum(rows.map((row) => row.cost_after_flag_usd)),
    samples: stuckRows.slice(0, SAMPLES).map(({ first_stuck_call, first_stuck_pattern, id, source }) => ({
      id,
      source,
      first_stuck_call,
      first_stuck_pattern,
    })),
  };
}

function cellsOf({ afterFlag, calls, costAfterFlagUsd, costUsd, judged, name, runs, stuck, succeeded }: Group) {
  const costText = (cost: number | null): string => (cost === null ? '–' : usdText(cost));
  return [
    printableCut(name, NAME_CHARS),
    countText(runs),
    intervalText(stuck, runs),
    intervalText(succeeded, judged),
    countText(calls),
    `${rangeText(afterFlag)} of ${countText(calls)}`,
    costText(costUsd),
    costText(costAfterFlagUsd),
  ];
}

function sampleText({
  first_stuck_call: call,
  first_stuck_pattern: kind,
  id,
  source,
}: Group['samples'][number]): string {
  return `call ${call ?? '?'}: ${printableCut(inWords('pattern', kind ?? ''), 60)}, run ${printableCut(id, 60)} in ${printableCut(source, 200)}`;
}
