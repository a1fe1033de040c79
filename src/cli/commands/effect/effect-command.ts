import { present } from '../../../base/present.ts';
import { effect } from '../../../backtest/effect.ts';
import { CoxswainError } from '../../../base/error.ts';
import { effectText } from './effect-text.ts';
import { requireStore, storeNamed } from '../../runs/open-store.ts';
import { jsonLine } from '../../terminal/printable.ts';
import { pricesInForce } from '../../runs/prices-in-force.ts';
import { Problems } from '../../runs/problems.ts';
import { Progress } from '../../terminal/progress.ts';
import type { Terminal } from '../../terminal/terminal.ts';

/** The options of `coxswain effect` from the command line. */
export interface EffectCommandOptions {
  readonly within?: string;
  readonly worthwhile?: string;
  readonly json?: boolean;
}

const MAX_WITHIN = 1_000;
const MAX_POINTS = 100;

/**
 * Runs `coxswain effect`: reports what followed advice. In experiments, compares delivered with withheld advice.
 *
 * @returns the exit code: 1 on a read error, else 0, also if there is too little data
 * @throws CoxswainError `invalid-argument`, `input-io` if the store does not exist, and the errors of the store
 */
export async function effectCommand(
  paths: readonly string[],
  options: EffectCommandOptions,
  terminal: Terminal,
): Promise<number> {
  const within = wholeNumber('--within', options.within, MAX_WITHIN);
  const points = wholeNumber('--worthwhile', options.worthwhile, MAX_POINTS);
  const from = paths.length === 0 ? [storeNamed(undefined)] : paths;
  if (paths.length === 0) await requireStore(storeNamed(undefined));
  const problems = new Problems(terminal);
  const progress = new Progress(terminal);
  let path = '';
  const report = await effect(from, {
    prices: pricesInForce(),
    ...present({ within, worthwhile: points === undefined ? undefined : points / 100 }),
    onRun: () => progress.run(),
    onProblem: (problem) => {
      if (problem.path !== path) problems.source((path = problem.path));
      problems.fault(problem);
    },
  });
  progress.end();
  problems.endSource();
  await terminal.write(options.json === true ? jsonLine(report) : effectText(report, terminal.paint));
  return problems.any ? 1 : 0;
}

function wholeNumber(option: string, text: string | undefined, most: number): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= most) return value;
  throw new CoxswainError('invalid-argument', `${option} ${text}: give a whole number from 1 to ${most}`);
}
