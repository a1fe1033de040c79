import { present } from '../../../core/base/present.ts';
import { effect } from '../../../lab/effect.ts';
import { terminalText } from '../../document/write-document.ts';
import { effectDocument } from './effect-document.ts';
import { sourcesNamed } from '../../runs/open-store.ts';
import { jsonLine } from '../../../core/base/printable.ts';
import { pricesInForce } from '../../runs/prices-in-force.ts';
import { wholeOption } from '../../terminal/option-values.ts';
import { Problems } from '../../runs/problems.ts';
import { Progress } from '../../terminal/progress.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export interface EffectCommandOptions {
  readonly within?: string;
  readonly worthwhile?: string;
  readonly json?: boolean;
}

const MAX_WITHIN = 1_000;
const MAX_POINTS = 100;

/** Runs `coxswain effect`. @returns the exit code: 1 on a read error, else 0, also if there is too little data */
export async function effectCommand(
  paths: readonly string[],
  options: EffectCommandOptions,
  terminal: Terminal,
): Promise<number> {
  const maxCalls = wholeOption('--within', options.within, [1, MAX_WITHIN]);
  const points = wholeOption('--worthwhile', options.worthwhile, [1, MAX_POINTS]);
  const sources = await sourcesNamed(paths, terminal);
  const problems = new Problems(terminal);
  const progress = new Progress(terminal);
  const report = await effect(sources, {
    prices: pricesInForce(),
    ...present({ within: maxCalls, worthwhile: points === undefined ? undefined : points / 100 }),
    onRun: () => progress.run(),
    onProblem: (problem) => problems.faultIn(problem),
  });
  progress.end();
  problems.endSource();
  await terminal.write(options.json === true ? jsonLine(report) : terminalText(effectDocument(report), terminal));
  return problems.any ? 1 : 0;
}
