import { callNumber } from '../../../base/call-number.ts';
import { inWords } from '../../../records/words.ts';
import { countOf, countText, durationText, periodText, usdText } from '../../../base/number-text.ts';
import type { Paint } from '../../terminal/paint.ts';
import { printable, printableCut } from '../../terminal/printable.ts';
import { localTimeText, zoneText } from '../../terminal/time-text.ts';
import { intervalText } from '../../runs/interval-text.ts';
import { lostFacts } from '../../runs/lost-records.ts';
import { titlesOf } from '../../runs/run-titles.ts';
import { tokenFacts } from '../../../run-view/usage-text.ts';
import { refusedFacts, verdictMark } from '../../runs/run-text.ts';
import { totalsText } from '../../runs/totals-text.ts';
import type { ListedGroup, NightReport, ReportFrame } from './night-report.ts';
import type { AdviceTally, NightRun } from './night-run.ts';

/** Maximum number of printed runs. `--json` and `--html` contain more. */
const MAX_PRINTED = 30;
const MAX_FAULTS = 5;
const ID_CHARS = 80;
const TASK_CHARS = 76;
const EVIDENCE_CHARS = 160;
const INDENT = '    ';

/** Formats the header of a report: its time span and totals. */
export function headFacts({ sums, totals }: NightReport, { sinceMs, untilMs }: ReportFrame): readonly string[] {
  const { answered, below, busyMs, costUsd, count, died, lostRecords, open, worked } = sums;
  return [
    `${sinceMs > 0 ? `the last ${spanText(untilMs - sinceMs)}` : 'all records'}, times in ${zoneText(untilMs)}`,
    `${countOf(count, 'run')}${below > 0 ? ` (${countOf(below, 'subagent')})` : ''}`,
    ...(answered > 0 ? [`${countText(answered)} answered${worked > 0 ? ` (${countText(worked)} worked)` : ''}`] : []),
    ...(died > 0 ? [`${countText(died)} failed or died`] : []),
    ...(open > 0 ? [`${countText(open)} not finished`] : []),
    [countOf(totals.calls, 'call'), countOf(totals.errors, 'error'), ...refusedFacts(totals.refused)].join(', '),
    ...lostFacts(lostRecords),
    ...(busyMs > 0 ? [`${durationText(busyMs)} of run time`] : []),
    ...tokenFacts(sums),
    ...(costUsd === undefined ? [] : [usdText(costUsd)]),
  ];
}

/** Formats a span that the user chose: a whole number of hours has no decimals. */
function spanText(spanMs: number): string {
  const hours = spanMs / 3_600_000;
  return Number.isInteger(hours) && hours > 0 && hours < 48 ? countOf(hours, 'hour') : periodText(spanMs);
}

export function adviceFacts(tally: AdviceTally): readonly string[] {
  const { acknowledged, cleared, delivered, endedEarly, followed, pieces, repeated, undelivered, withheld, withNext } =
    tally;
  return [
    `${countText(delivered)} of ${countText(pieces)} delivered`,
    ...(withheld > 0 ? [`${countText(withheld)} withheld`] : []),
    ...(undelivered > 0 ? [`${countText(undelivered)} not delivered`] : []),
    ...(followed > 0
      ? [`pattern left within 10 calls: ${intervalText(cleared, followed)} with 10 calls after it`]
      : []),
    ...(endedEarly > 0 ? [`${countText(endedEarly)} too close to the end to tell`] : []),
    ...(repeated > 0 ? [`same call again after ${countText(repeated)} of ${countText(withNext)}`] : []),
    ...(acknowledged > 0 ? [`${countText(acknowledged)} answered`] : []),
  ];
}

export function runFacts(run: NightRun): readonly string[] {
  const { advice, calls, costUsd, errors, faults, lastAtMs, lostRecords, refused, startedAtMs } = run;
  return [
    ...(startedAtMs > 0 ? [localTimeText(startedAtMs)] : []),
    countOf(calls, 'call'),
    countOf(errors, 'error'),
    ...refusedFacts(refused),
    ...lostFacts(lostRecords),
    ...(lastAtMs > startedAtMs && startedAtMs > 0 ? [durationText(lastAtMs - startedAtMs)] : []),
    ...tokenFacts(run),
    ...(costUsd === undefined ? [] : [usdText(costUsd)]),
    ...(advice.pieces > 0 ? [`advice ${advice.delivered} of ${advice.pieces}`] : []),
    ...(faults > 0 ? [countOf(faults, 'fault')] : []),
  ];
}

export function workFacts({ checks, commits, filesChanged }: NightRun): readonly string[] {
  const [first = ''] = filesChanged;
  const names = filesChanged.length === 1 ? first : `${first} and ${countOf(filesChanged.length - 1, 'more file')}`;
  return [
    ...(filesChanged.length === 0 ? [] : [`changed ${printableCut(names, 120)}`]),
    ...(commits === 0 ? [] : [countOf(commits, 'commit')]),
    ...checks.map(({ command, failed }) => `${printableCut(command, 40)} ${failed ? 'failed' : 'passed'}`),
  ];
}

/** Returns the prefix for the evidence of a run with a bad end that its source did not judge. */
export function diedText({ outcome, verdict }: NightRun): string {
  return verdict.verdict === 'failed' && outcome !== undefined && outcome.success === undefined ? 'died: ' : '';
}

/** Formats a project, person or agent with the counts of its runs. */
export function groupFacts({ count, died, name }: ListedGroup): string {
  return `${printableCut(name, 200)}: ${countOf(count, 'run')}${died > 0 ? `, ${countText(died)} failed or died` : ''}`;
}

/** Formats a short description of each pattern of a run. */
export function patternFacts({ patterns }: NightRun): readonly string[] {
  return patterns.map(({ clearedAt, flaggedAt, kind, level, stuck }) => {
    const where = flaggedAt === null ? '' : ` at call ${callNumber(flaggedAt)}`;
    const end = clearedAt === undefined ? 'not over at the end' : `over by call ${callNumber(clearedAt)}`;
    return `${stuck ? `stuck ${inWords('level', level)}: ` : ''}${inWords('pattern', kind)}${where}, ${end}`;
  });
}

/** Formats a report for a terminal. @param width  columns of a line */
export function reportText(
  report: NightReport,
  frame: ReportFrame,
  { paint, width }: { readonly paint: Paint; readonly width: number },
): string {
  const facts = filledLines(headFacts(report, frame), '; ', width);
  const head = `${paint('bold', printable(frame.from))}\n${facts.join('\n')}\n`;
  if (report.sums.count === 0) return head;
  const blocks = [
    head,
    momentsText(report, paint),
    runsText(report, paint, width),
    totalsText(report.totals, paint),
    adviceText(report, paint),
    faultsText(report, paint),
  ];
  return blocks.filter((block) => block !== '').join('\n');
}

function momentsText({ moments }: NightReport, paint: Paint): string {
  if (moments.length === 0) return '';
  const lines = moments.flatMap(({ atMs, call, command, runId, what }, index) => {
    const timePrefix = atMs === undefined ? '' : `${localTimeText(atMs)}, `;
    const location = `${timePrefix}${call === undefined ? '' : `call ${callNumber(call)} of `}run ${printableCut(runId, ID_CHARS)}`;
    return [
      `  ${index + 1}. ${printableCut(what, 200)}`,
      `     ${location}`,
      paint('dim', `     ${printable(command)}`),
    ];
  });
  return `${[paint('bold', 'worth a look'), ...lines].join('\n')}\n`;
}

function runsText({ groups: found, runs, sums: { count } }: NightReport, paint: Paint, width: number): string {
  const printedRuns = new Set(runs.slice(0, MAX_PRINTED));
  const groups = (found ?? [undefined]).map((group) => ({
    head: group === undefined ? [] : [paint('bold', groupFacts(group))],
    runs: (group?.runs ?? runs).filter((run) => printedRuns.has(run)),
  }));
  const titles = titlesOf(
    runs.map(({ task }) => task),
    TASK_CHARS,
  );
  const lines = groups.flatMap((group) =>
    group.runs.length === 0
      ? []
      : group.head.concat(group.runs.flatMap((run) => runLines(run, { paint, width, titles }))),
  );
  const hiddenCount = count - Math.min(count, MAX_PRINTED);
  return `${[...lines, ...(hiddenCount > 0 ? [`and ${countOf(hiddenCount, 'more run')}; --json lists all`] : [])].join('\n')}\n`;
}

interface RunLineOptions {
  readonly paint: Paint;
  readonly titles: ReadonlyMap<string, string>;
  /** Number of columns. */
  readonly width: number;
}

function runLines(run: NightRun, { paint, titles, width }: RunLineOptions): readonly string[] {
  const room = width - INDENT.length;
  const shortened = (text: string): string => printableCut(text, Math.min(EVIDENCE_CHARS, room));
  const work = filledLines(workFacts(run), ', ', room);
  const patterns = filledLines(patternFacts(run), '; ', room);
  const { evidence } = run.verdict;
  return [
    `${verdictMark(run, paint)} ${paint('bold', titles.get(run.task ?? '') ?? printableCut(`run ${run.id}`, TASK_CHARS))}`,
    `${INDENT}${shortened(`${diedText(run)}${evidence}`)}`,
    `    ${runFacts(run).join(', ')}${run.task === undefined ? '' : paint('dim', `  ${printableCut(run.id, ID_CHARS)}`)}`,
    ...work.map((line) => `${INDENT}${line}`),
    ...(run.lastMessage === undefined
      ? []
      : [`${INDENT}“${printableCut(run.lastMessage, Math.min(EVIDENCE_CHARS, room - 2))}”`]),
    ...patterns.map((line) => `${INDENT}${line}`),
    ...(run.problem === undefined ? [] : [paint('red', `    ${printableCut(run.problem, 200)}`)]),
  ];
}

function adviceText({ advice }: NightReport, paint: Paint): string {
  if (advice.length === 0) return '';
  const lines = advice.map(([name, tally]) => `  ${printableCut(name, 40)}: ${adviceFacts(tally).join(', ')}`);
  return `${[paint('bold', 'advice (what followed it, which need not be its effect)'), ...lines].join('\n')}\n`;
}

function faultsText({ faults }: NightReport, paint: Paint): string {
  if (faults.length === 0) return '';
  const lines = faults.slice(0, MAX_FAULTS).map(([fault, count]) => `  ${count}×  ${printableCut(fault, 200)}`);
  return `${[paint('bold', 'faults'), ...lines].join('\n')}\n`;
}

/** Joins facts into lines of at most `width` columns. */
function filledLines(facts: readonly string[], separator: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const fact of facts) {
    const last = lines.at(-1);
    const longerLine = last === undefined ? undefined : `${last}${separator}${fact}`;
    if (longerLine !== undefined && longerLine.length <= width) lines[lines.length - 1] = longerLine;
    else lines.push(printableCut(fact, width));
  }
  return lines;
}
