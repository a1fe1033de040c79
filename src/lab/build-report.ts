import { shareText } from '../core/base/number-text.ts';
import { copiesNote } from './copies-note.ts';
import { baseRate, isChance } from './chance-signals.ts';
import { present } from '../core/base/present.ts';
import {
  BACKTEST_REPORT_VERSION,
  OFF_POLICY_NOTE,
  type BacktestReport,
  type InputReport,
  type PartReport,
} from './backtest-report.ts';
import { compareFirings } from './compare-firings.ts';
import type { Configuration } from './configuration.ts';
import type { JoinedRow, JoinedRuns } from './join-shards.ts';
import { judgeGates, type Gates } from './judge-gates.ts';
import { measureSignals, type MeasuredRun } from './measure-signals.ts';
import { measureStops, type StoppableRun } from './measure-stops.ts';
import { partNames, partOf, type Split } from './split-runs.ts';
import { sweepReport } from './sweep-report.ts';
import type { TruthSource } from './truth.ts';

/** The input of a report, except for the runs. */
export interface ReportSetup {
  readonly paths: readonly string[];
  readonly configurations: readonly Configuration[];
  readonly truth: TruthSource;
  readonly split?: Split | undefined;
  readonly gates: Gates;
  /** True if the second configuration is compared with the first. */
  readonly compares: boolean;
  /** True if the report includes the savings of stopping after a warning. */
  readonly stopEarly: boolean;
  /** Name of the signal that a sweep reports. */
  readonly signal?: string | undefined;
}

/** A run with its expected result and its part of the split. */
interface KnownRun {
  readonly row: JoinedRow;
  readonly positive: boolean | null;
  readonly part: string;
  readonly task: string;
}

/** Builds the report. The function is pure: the same runs in the same order give the same bytes. */
export function buildReport(joined: JoinedRuns, setup: ReportSetup): BacktestReport {
  const { configurations, split, truth } = setup;
  const runs = joined.rows.filter(({ unanswered }) => unanswered.length === 0).map((row) => toKnownRun(row, setup));
  const { stopEarly } = setup;
  const parts = partNames(split).map((name) => partReport(name, runs, { joined, configurations, stopEarly }));
  const input = inputReport(joined, runs);
  const comparison = setup.compares
    ? compareFirings(
        runs.map(({ row }) => ({ id: row.id, before: row.fired[0] ?? [], after: row.fired[1] ?? [] })),
        joined.keys,
      )
    : undefined;
  const sweep = sweepReport(configurations, parts[0], setup.signal);
  return {
    version: BACKTEST_REPORT_VERSION,
    paths: setup.paths,
    configurations: configurations.map(({ name, steering }) => ({ name, hash: steering.configurationHash })),
    input,
    truth: truth.kind,
    parts,
    ...present({ comparison, sweep }),
    gates: judgeGates(setup.gates, parts.at(-1)),
    notes: notesOf(input, parts, { ...setup, repeated: joined.repeated }),
  };
}

function toKnownRun(row: JoinedRow, { truth, split }: ReportSetup): KnownRun {
  const { positive, split: splitName } = truth.of(row);
  const task = row.task === '' ? `run ${row.id}` : row.task;
  const isPart = split !== undefined && splitName !== undefined && partNames(split).includes(splitName);
  return { row, positive, task, part: isPart ? splitName : partOf(task, split) };
}

function partReport(
  name: string,
  knownRuns: readonly KnownRun[],
  {
    joined,
    configurations,
    stopEarly,
  }: Pick<ReportSetup, 'configurations' | 'stopEarly'> & { readonly joined: JoinedRuns },
): PartReport {
  const runs = knownRuns.filter(({ part }) => part === name);
  const count = (positive: boolean | null): number => runs.filter((run) => run.positive === positive).length;
  return {
    name,
    runs: runs.length,
    calls: runs.reduce((sum, { row }) => sum + row.calls, 0),
    positive: count(true),
    negative: count(false),
    unlabelled: count(null),
    tasks: new Set(runs.map(({ task }) => task)).size,
    byConfiguration: configurations.map((_, index) => {
      const measuredRuns = runs.map(({ row, positive }): MeasuredRun => {
        const { calls, id, source } = row;
        return { id, source, calls, positive, fired: row.fired[index] ?? [] };
      });
      const figures = measureSignals(measuredRuns, joined.keys);
      if (!stopEarly) return figures;
      const stoppable = runs.map(({ row, positive }): StoppableRun => {
        return { calls: row.calls, use: row.use, positive, stops: row.stops[index] ?? [] };
      });
      return { ...figures, stopEarly: measureStops(stoppable) };
    }),
  };
}

function inputReport({ rows, problems }: JoinedRuns, runs: readonly KnownRun[]): InputReport {
  const count = (holds: (run: KnownRun) => boolean): number => runs.filter(holds).length;
  return {
    runs: runs.length,
    calls: runs.reduce((sum, { row }) => sum + row.calls, 0),
    positive: count(({ positive }) => positive === true),
    negative: count(({ positive }) => positive === false),
    unlabelled: count(({ positive }) => positive === null),
    ownEvaluations: count(({ row }) => row.own),
    neverAsked: count(({ row }) => row.own && !row.evaluated),
    withGap: count(({ row }) => row.gap),
    withoutVerdicts: rows.length - runs.length,
    problems: new Set(problems.map(({ path }) => path)).size,
  };
}

function notesOf(
  input: InputReport,
  parts: readonly PartReport[],
  { repeated, ...setup }: ReportSetup & { readonly repeated: number },
): readonly string[] {
  const notes: string[] = [OFF_POLICY_NOTE];
  const judgedRuns = input.positive + input.negative;
  const isByOutcome = setup.truth.kind === 'outcomes';
  if (judgedRuns > 0 && isByOutcome) {
    notes.push(
      'A positive run is one that failed. A run may fail without ever being stuck, so recall against outcomes has a low ceiling.',
    );
  }
  if (judgedRuns === 0) {
    const reason = isByOutcome ? 'No run records whether it succeeded' : 'No label marks these runs as stuck or ok';
    notes.push(`${reason}, so precision, recall and rates are unknown; give labels with --labels FILE.`);
  } else {
    if (input.positive === 0) notes.push('No run is positive, so recall is unknown.');
    if (input.negative === 0) notes.push('No run is negative, so the false rate is unknown.');
  }
  if (judgedRuns > 0 && input.unlabelled > 0) {
    notes.push(`${input.unlabelled} of ${input.runs} runs are unlabelled: no precision, recall or rate includes them.`);
  }
  for (const [index, { name }] of setup.configurations.entries()) {
    const isSilent = parts.every(({ byConfiguration }) => byConfiguration[index]?.advice.fired === 0);
    if (isSilent) notes.push(`The configuration ${name} gives no advice in any of these runs.`);
  }
  notes.push(...chanceNotes(parts.at(-1), setup));
  if (input.neverAsked > 0) {
    notes.push(
      `${input.neverAsked} runs were recorded by a host that never evaluated the steering, so nothing can fire in them.`,
    );
  }
  notes.push(...copiesNote(repeated));
  if (input.withGap > 0) notes.push(`${input.withGap} runs have a gap; lost records are not evaluated.`);
  if (input.withoutVerdicts > 0) {
    notes.push(
      `${input.withoutVerdicts} runs are left out: a model-backed classifier has no recorded verdict in them.`,
    );
  }
  return notes;
}

function chanceNotes(part: PartReport | undefined, { configurations }: ReportSetup): readonly string[] {
  const base = part === undefined ? undefined : baseRate(part);
  if (part === undefined || base === undefined) return [];
  return part.byConfiguration.flatMap(({ advice, providers }, index) => {
    const qualifier = configurations.length === 1 ? '' : ` under ${configurations[index]?.name ?? ''}`;
    return [advice, ...providers].flatMap((signal) => {
      const { by, name, precision } = signal;
      const { high, hits, low, of } = precision;
      if (low === null || high === null || !isChance(signal, base)) return [];
      const who = by === 'advice' ? 'Advice as a whole' : name;
      return [
        `${who}${qualifier} is no better than chance on these runs: ${hits} of the ${of} runs in which it spoke failed (95 % interval ${shareText(low)} to ${shareText(high)}), and ${shareText(base)} of all runs failed.`,
      ];
    });
  });
}
