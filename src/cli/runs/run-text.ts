import { inWords } from '../../records/words.ts';
import type { TrajectoryPattern } from '../../records/trajectory-pattern.ts';
import type { RunOutcome, RunVerdict } from '../../run-view/run-verdict.ts';
import { countOf, countText, durationText, usdText } from '../../base/number-text.ts';
import type { Paint } from '../terminal/paint.ts';
import { lostFacts } from './lost-records.ts';
import { patternLines, type ReportTextOptions } from './pattern-text.ts';
import { printable, printableCut } from '../terminal/printable.ts';
import type { RunUsage } from '../../run-view/run-view.ts';
import { tokenFacts } from '../../run-view/usage-text.ts';
import type { RunReport } from './run-report.ts';

const ID_CHARS = 80;
const TASK_CHARS = 76;

/** Formats the report of a run: one line if there are no patterns, else a block followed by an empty line. */
export function runText(report: RunReport, paint: Paint, options: ReportTextOptions = {}): string {
  if (report.patterns.length === 0) {
    const { id, title } = namesOf(report);
    return `${verdictMark(report, paint)} ${title}  ${paint('dim', `${factsOf(report).join(', ')}: no pattern${id}`)}\n`;
  }
  return `${runLines(report, paint, options).join('\n')}\n\n`;
}

/** Formats the report of a run as a block, with or without patterns. */
export function runLines(report: RunReport, paint: Paint, options: ReportTextOptions = {}): readonly string[] {
  return [...titleLines(report, paint), ...patternLines(report, paint, options)];
}

/** Formats the title of a run, its facts and its source. */
export function titleLines(report: RunReport, paint: Paint): readonly string[] {
  const { id, title } = namesOf(report);
  return [
    `${verdictMark(report, paint)} ${paint('bold', title)}`,
    `  ${factsOf(report).join(', ')}`,
    paint(
      'dim',
      `  ${[report.format, report.source]
        .filter((part) => part !== '')
        .map(printable)
        .join(', ')}${id}`,
    ),
  ];
}

/**
 * Returns the title and the id of a run. The title is the task if it is known, because a task describes a run better than an id.
 */
function namesOf({ id, task }: RunReport): { readonly title: string; readonly id: string } {
  const shownId = printableCut(id, ID_CHARS);
  return task === undefined
    ? { title: `run ${shownId}`, id: '' }
    : { title: printableCut(task, TASK_CHARS), id: `, run ${shownId}` };
}

const MARKS = {
  worked: ['green', '✓'],
  failed: ['red', '✗'],
  stuck: ['yellow', '●'],
  unknown: ['dim', '·'],
} as const;

/** Returns the verdict of a run, or `stuck` for a run without one that was stuck at its end. */
export function markStateOf({ patterns, verdict: { verdict } }: MarkedRun): keyof typeof MARKS {
  const isStuck = patterns.some(({ clearedAt, level, stuck }) => stuck && level !== 'hint' && clearedAt === undefined);
  return verdict === 'unknown' && isStuck ? 'stuck' : verdict;
}

/** Returns ✓ for a run that worked, ✗ for a run that failed, ● for a run that was stuck at its end, else ·. */
export function verdictMark(run: MarkedRun, paint: Paint): string {
  const [style, mark] = MARKS[markStateOf(run)];
  return paint(style, mark);
}

interface MarkedRun {
  readonly verdict: RunVerdict;
  readonly patterns: readonly Pick<TrajectoryPattern, 'clearedAt' | 'level' | 'stuck'>[];
}

function factsOf(report: RunReport): readonly string[] {
  const { calls, turns, errors, durationMs, lostRecords, outcome, patternBasis, refused, steered, usage, verdict } =
    report;
  return [
    countOf(calls, 'call'),
    countOf(errors, 'error'),
    ...refusedFacts(refused),
    ...lostFacts(lostRecords),
    ...(turns === 0 ? [] : [countOf(turns, 'turn')]),
    ...(durationMs === undefined ? [] : [durationText(durationMs)]),
    ...usageFacts(usage),
    ...(outcome === undefined ? cutOffFacts(verdict) : [outcomeText(outcome)]),
    ...(steered ? [patternBasis === 'recorded' ? 'patterns as recorded' : 'patterns recomputed'] : []),
  ];
}

function cutOffFacts({ evidence, verdict }: RunVerdict): readonly string[] {
  return verdict === 'failed' ? [evidence] : [];
}

/** Formats tokens and cost: `12,345 tokens`, `$0.42`, or `at least $0.42` if the cost of some responses is unknown. */
export function usageFacts({ answersWithoutCost, costUsd, ...usage }: RunUsage): readonly string[] {
  const least = answersWithoutCost === undefined ? '' : 'at least ';
  return [...tokenFacts(usage), ...(costUsd === undefined ? [] : [`${least}${usdText(costUsd)}`])];
}

/** Formats the number of refused calls: `2 refused`. Nothing without any. */
export function refusedFacts(refused = 0): readonly string[] {
  return refused === 0 ? [] : [`${countText(refused)} refused`];
}

/** Formats an outcome: `finished (it worked, reward 1)`. */
export function outcomeText({ outcome, reason, success, reward }: RunOutcome): string {
  const facts = [
    ...(success === undefined ? [] : [success ? 'it worked' : 'it did not work']),
    ...(reward === undefined ? [] : [`reward ${Math.round(reward * 1000) / 1000}`]),
  ];
  const word = printableCut(reason === undefined ? inWords('outcome', outcome) : inWords('reason', reason), 60);
  return facts.length === 0 ? word : `${word} (${facts.join(', ')})`;
}
