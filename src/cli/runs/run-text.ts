import type { RunOutcome } from '../../run-view/run-verdict.ts';
import { saysStuck } from '../../run-view/seen-pattern.ts';
import { countOf, durationText } from '../terminal/number-text.ts';
import type { Paint } from '../terminal/paint.ts';
import { patternLines, type ReportTextOptions } from './pattern-text.ts';
import { printable, printableCut } from '../terminal/printable.ts';
import type { RunReport } from './run-report.ts';

const ID_CHARS = 80;
const TASK_CHARS = 100;

/** The report of one run for a reader: one line when nothing was found, else a block with an empty line behind. */
export function runText(report: RunReport, paint: Paint, options: ReportTextOptions = {}): string {
  const id = printableCut(report.id, ID_CHARS);
  if (report.patterns.length === 0) {
    return `${paint('green', '✓')} ${id}  ${paint('dim', `${factsOf(report).join(', ')}: no pattern`)}\n`;
  }
  return `${runLines(report, paint, options).join('\n')}\n\n`;
}

/** The report of one run as a block, also when nothing was found. */
export function runLines(report: RunReport, paint: Paint, options: ReportTextOptions = {}): readonly string[] {
  const mark = saysStuck(report.patterns)
    ? paint('red', '●')
    : paint(report.patterns.length === 0 ? 'green' : 'yellow', '●');
  const head = `${mark} ${paint('bold', printableCut(report.id, ID_CHARS))}`;
  const { task } = report;
  return [
    `${head}  ${printable(report.format)}  ${paint('dim', printable(report.source))}`,
    `  ${factsOf(report).join(', ')}`,
    ...(task === undefined ? [] : [paint('dim', `  task: ${printableCut(task, TASK_CHARS)}`)]),
    ...patternLines(report, paint, options),
  ];
}

function factsOf(report: RunReport): readonly string[] {
  const { calls, turns, errors, durationMs, outcome, patternBasis, steered } = report;
  return [
    countOf(calls, 'call'),
    countOf(errors, 'error'),
    ...(turns === 0 ? [] : [countOf(turns, 'turn')]),
    ...(durationMs === undefined ? [] : [durationText(durationMs)]),
    ...(outcome === undefined ? [] : [outcomeText(outcome)]),
    ...(steered ? [patternBasis === 'recorded' ? 'patterns as recorded' : 'patterns recomputed'] : []),
  ];
}

/** How a run went, in words: `ended: success, reward 1`. */
export function outcomeText({ outcome, success, reward }: RunOutcome): string {
  const facts = [
    ...(success === undefined ? [] : [success ? 'success' : 'no success']),
    ...(reward === undefined ? [] : [`reward ${Math.round(reward * 1000) / 1000}`]),
  ];
  const word = printableCut(outcome, 60);
  return facts.length === 0 ? `outcome ${word}` : `outcome ${word} (${facts.join(', ')})`;
}
