import { wholeOption } from '../../terminal/option-values.ts';
import { availableParallelism } from 'node:os';

import { present } from '../../../core/base/json.ts';
import { invalidArgument } from '../../../core/base/error.ts';
import { backtest } from '../../../lab/backtest.ts';
import { readLabels } from '../../../lab/labels.ts';
import { parseSplit } from '../../../lab/split-runs.ts';
import { parseSweep } from '../../../lab/sweep-report.ts';
import type { BacktestProgress } from '../../../lab/backtest-options.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { countOf } from '../../../core/base/number-text.ts';
import { barText } from '../../document/document.ts';
import { terminalText } from '../../document/write-document.ts';
import { backtestDocument } from './backtest-document.ts';
import { backtestVerify } from './backtest-verify.ts';
import { jsonLine, printable, printableCut } from '../../../core/base/printable.ts';
import { sourcesNamed } from '../../runs/open-store.ts';
import { Problems } from '../../runs/problems.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export interface BacktestCommandOptions {
  readonly config?: string;
  readonly compare?: readonly string[];
  readonly sweep?: string;
  readonly signal?: string;
  readonly labels?: string;
  readonly split?: string;
  readonly maxFalseRate?: string;
  readonly minRecall?: string;
  readonly maxAdvicePer100Calls?: string;
  readonly workers?: string;
  readonly resume?: string;
  readonly queue?: string;
  readonly stopEarly?: boolean;
  readonly verify?: boolean;
  readonly details?: boolean;
  readonly json?: boolean;
}

const SHOWN_IDS = 5;
const REDRAW_EVERY_MS = 100;

/** Runs `coxswain backtest`. @returns the exit code: 0, or 1 on a read error, a failed gate or a failed verification */
export async function backtestCommand(
  givenPaths: readonly string[],
  options: BacktestCommandOptions,
  terminal: Terminal,
): Promise<number> {
  const { paths: namedPaths, ...configurations } = compareConfigs(givenPaths, options);
  const paths = await sourcesNamed(namedPaths, terminal);
  if (options.verify === true) return backtestVerify(paths, options, terminal);
  if (options.signal !== undefined && options.sweep === undefined) {
    throw invalidArgument('--signal needs --sweep');
  }
  const { report, problems, unknownLabels } = await backtest(paths, {
    ...configurations,
    sweep: options.sweep === undefined ? undefined : parseSweep(options.sweep),
    signal: options.signal,
    labels: options.labels === undefined ? undefined : await readLabels(options.labels),
    split: options.split === undefined ? undefined : parseSplit(options.split),
    gates: {
      ...amountOption('maxFalseRate', '--max-false-rate', options.maxFalseRate, 1),
      ...amountOption('minRecall', '--min-recall', options.minRecall, 1),
      ...amountOption('maxAdvicePer100Calls', '--max-advice-per-100-calls', options.maxAdvicePer100Calls, 1e6),
    },
    workers: wholeOption('--workers', options.workers, [1, 256]) ?? Math.min(256, availableParallelism()),
    resume: options.resume,
    queue: options.queue,
    stopEarly: options.stopEarly,
    onProgress: progressOn(terminal),
  }).finally(() => terminal.status(''));
  new Problems(terminal).faults(problems);
  const unknownCount = unknownLabels.length;
  if (unknownCount > 0) {
    const names = unknownLabels.slice(0, SHOWN_IDS).map((id) => printableCut(id, 80));
    const ellipsis = unknownCount > SHOWN_IDS ? ', …' : '';
    terminal.complain(
      `coxswain: ${printable(options.labels ?? '')}: ${unknownCount} labels match no run: ${names.join(', ')}${ellipsis}`,
    );
  }
  const text =
    options.json === true
      ? jsonLine(report)
      : terminalText(backtestDocument(report, options.details === true), terminal);
  await terminal.write(text);
  const failedGates = report.gates.filter(({ passed }) => !passed);
  for (const { reason } of failedGates) terminal.complain(`coxswain: ${reason}`);
  return problems.length > 0 || unknownCount > 0 || failedGates.length > 0 ? 1 : 0;
}

/** Splits the arguments of `--compare`, which takes every argument up to the next option: two configurations, then paths. */
function compareConfigs(
  givenPaths: readonly string[],
  { config, compare }: BacktestCommandOptions,
): { readonly paths: readonly string[]; readonly config?: string; readonly against?: string } {
  const [first, second, ...rest] = compare ?? [];
  const paths = [...givenPaths, ...rest];
  if (compare === undefined) return { paths, ...present({ config }) };
  if (first === undefined || second === undefined || config !== undefined) {
    const hint = 'name two configurations after it, each a file or standard, without --config';
    throw invalidArgument(`--compare ${compare.join(' ')}: ${hint}`);
  }
  return { paths, config: first, against: second };
}

function amountOption(
  name: 'maxFalseRate' | 'minRecall' | 'maxAdvicePer100Calls',
  flag: string,
  text: string | undefined,
  max: number,
): Readonly<Partial<Record<typeof name, number>>> {
  if (text === undefined) return {};
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (value >= 0 && value <= max) return { [name]: value };
  throw invalidArgument(`${flag} ${text}: give a number from 0 to ${max}`);
}

/** Returns a function that shows the progress on standard error, at most every 100 ms. */
function progressOn(terminal: Terminal): (progress: BacktestProgress) => void {
  let drawnAtMs = 0;
  return ({ of, runs, shards }) => {
    const nowMs = systemClock.nowMs();
    if (nowMs - drawnAtMs < REDRAW_EVERY_MS) return;
    drawnAtMs = nowMs;
    const text = `${barText(of === 0 ? 1 : shards / of)}  ${shards} of ${of} parts  ${countOf(runs, 'run')}`;
    terminal.status(text.slice(0, Math.max(0, terminal.columns - 1)));
  };
}
