import { DEFAULT_WITHIN_CALLS } from '../../../run-view/advice-outcome.ts';
import { effect } from '../../../backtest/effect.ts';
import { CoxswainError } from '../../../base/error.ts';
import { effectText } from './effect-text.ts';
import { requireStore, storeNamed } from '../../runs/open-store.ts';
import { jsonLine } from '../../terminal/printable.ts';
import { Problems } from '../../runs/problems.ts';
import { Progress } from '../../terminal/progress.ts';
import type { Terminal } from '../../terminal/terminal.ts';

/** The options of `coxswain effect`, as the command line gives them. */
export interface EffectCommandOptions {
  readonly within?: string;
  readonly json?: boolean;
}

const MAX_WITHIN = 1_000;

/**
 * `coxswain effect`: what followed advice, and where arms were drawn, delivered against withheld.
 *
 * @returns the exit code: 1 when something could not be read, else 0, also with too little data
 * @throws CoxswainError `invalid-argument`, `input-io` without a store, and as the store
 */
export async function effectCommand(
  paths: readonly string[],
  options: EffectCommandOptions,
  terminal: Terminal,
): Promise<number> {
  const within = withinOf(options.within);
  const from = paths.length === 0 ? [storeNamed(undefined)] : paths;
  if (paths.length === 0) await requireStore(storeNamed(undefined));
  const problems = new Problems(terminal);
  const progress = new Progress(terminal);
  let path = '';
  const report = await effect(from, {
    within,
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

function withinOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_WITHIN_CALLS;
  const within = Number(text);
  if (/^\d+$/.test(text) && within >= 1 && within <= MAX_WITHIN) return within;
  throw new CoxswainError('invalid-argument', `--within ${text}: give a whole number from 1 to ${MAX_WITHIN}`);
}
