import { callNumber } from '../../../core/base/call-number.ts';
import { countOf, countText, durationText, periodText, usdText } from '../../../core/base/number-text.ts';
import { present } from '../../../core/base/present.ts';
import { inWords } from '../../../core/records/words.ts';
import { tokenFacts } from '../../../core/facts/usage-text.ts';
import {
  linesOf,
  listBlock,
  sectionOf,
  styled,
  type Block,
  type Document,
  type ListItem,
} from '../../document/document.ts';
import { countFacts, intervalText, runMark, totalsBlocks } from '../../runs/run-blocks.ts';
import { titlesOf } from '../../runs/run-titles.ts';
import { printableCut } from '../../../core/base/printable.ts';
import { localTimeText, timeText, zoneText } from '../../terminal/time-text.ts';
import type { NightReport, ReportFrame, ShownMoment } from './night-report.ts';
import type { AdviceTally, RunFacts } from '../../../core/facts/run-facts.ts';

const ID_CHARS = 80;
const TASK_CHARS = 76;
const TEXT_CHARS = 160;
const MAX_PATTERNS = 8;

/** Returns a report as a document. It depends only on the report. @param maxRuns  maximum number of listed runs */
export function reportDocument(report: NightReport, frame: ReportFrame, maxRuns: number): Document {
  const { advice, faults, moments, sums, totals } = report;
  const title = `What the agents did until ${timeText(frame.untilMs)}`;
  const head: Block = { type: 'facts', facts: [frame.from, ...headFacts(report, frame)], separator: '; ' };
  if (sums.count === 0) return { title, blocks: [head] };
  return {
    title,
    blocks: [
      head,
      ...sectionOf('Worth a look', { type: 'list', isNumbered: true, items: moments.map(momentItem) }),
      ...runSections(report, maxRuns),
      ...totalsBlocks(totals),
      ...sectionOf(
        'Advice (what followed it, which need not be its effect)',
        linesOf(advice.map(([name, tally]) => `${printableCut(name, 40)}: ${adviceFacts(tally).join(', ')}`)),
      ),
      ...sectionOf(
        'Faults',
        linesOf(faults.map(([fault, count]) => `${countText(count)}×  ${printableCut(fault, 300)}`)),
      ),
    ],
  };
}

/** Returns the time span and the totals. */
function headFacts({ sums, totals }: NightReport, { sinceMs, untilMs }: ReportFrame): readonly string[] {
  const { answered, below, busyMs, costUsd, count, died, lostRecords, open, worked } = sums;
  const { calls, errors, refused } = totals;
  return [
    `${sinceMs > 0 ? `the last ${spanText(untilMs - sinceMs)}` : 'all records'}, times in ${zoneText(untilMs)}`,
    `${countOf(count, 'run')}${below > 0 ? ` (${countOf(below, 'subagent')})` : ''}`,
    ...(answered > 0 ? [`${countText(answered)} answered${worked > 0 ? ` (${countText(worked)} worked)` : ''}`] : []),
    ...(died > 0 ? [`${countText(died)} failed or died`] : []),
    ...(open > 0 ? [`${countText(open)} not finished`] : []),
    countFacts({ calls, errors, refused, ...present({ lostRecords }) }).join(', '),
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

function momentItem({ atMs, call, command, runId, what }: ShownMoment): ListItem {
  const timePrefix = atMs === undefined ? '' : `${localTimeText(atMs)}, `;
  const callPrefix = call === undefined ? '' : `call ${callNumber(call)} of `;
  return {
    head: printableCut(what, 200),
    lines: [`${timePrefix}${callPrefix}run ${printableCut(runId, ID_CHARS)}`, styled('code', command)],
  };
}

function runSections({ groups, runs, sums: { count } }: NightReport, maxRuns: number): readonly Block[] {
  const listed = new Set(runs.slice(0, maxRuns));
  const titles = titlesOf(
    runs.map(({ task }) => task),
    TASK_CHARS,
  );
  const sections = (groups ?? [{ name: 'Runs', count, died: 0, runs }]).flatMap((group) =>
    sectionOf(
      groups === undefined ? 'Runs' : groupText(group),
      listBlock(group.runs.filter((run) => listed.has(run)).map((run) => runItem(run, titles))),
    ),
  );
  const hiddenCount = count - listed.size;
  return hiddenCount > 0
    ? [...sections, linesOf([`and ${countOf(hiddenCount, 'more run')}; --json lists all`])]
    : sections;
}

function groupText({ count, died, name }: { readonly count: number; readonly died: number; readonly name: string }) {
  return `${printableCut(name, 200)}: ${countOf(count, 'run')}${died > 0 ? `, ${countText(died)} failed or died` : ''}`;
}

function runItem(run: RunFacts, titles: ReadonlyMap<string, string>): ListItem {
  const { id, lastMessage, problem, task, verdict } = run;
  const idText = printableCut(id, ID_CHARS);
  return {
    mark: runMark(run),
    head: styled('strong', titles.get(task ?? '') ?? `run ${idText}`),
    lines: [
      { facts: [printableCut(verdict.evidence, TEXT_CHARS)] },
      [runFacts(run).join(', '), task === undefined ? '' : styled('dim', `  ${idText}`)],
      ...factLine(workFacts(run), ', '),
      ...(lastMessage === undefined ? [] : [{ facts: [`“${printableCut(lastMessage, TEXT_CHARS)}”`] }]),
      ...factLine(patternFacts(run), '; '),
      ...(problem === undefined ? [] : [styled('bad', printableCut(problem, 200))]),
    ],
  };
}

function factLine(facts: readonly string[], separator: string) {
  return facts.length === 0 ? [] : [{ facts, separator }];
}

function runFacts(run: RunFacts): readonly string[] {
  const { advice, costUsd, faults, lastAtMs, startedAtMs } = run;
  return [
    ...(startedAtMs > 0 ? [localTimeText(startedAtMs)] : []),
    ...countFacts(run),
    ...(lastAtMs > startedAtMs && startedAtMs > 0 ? [durationText(lastAtMs - startedAtMs)] : []),
    ...tokenFacts(run),
    ...(costUsd === undefined ? [] : [usdText(costUsd)]),
    ...(advice.pieces > 0 ? [`advice ${advice.delivered} of ${advice.pieces}`] : []),
    ...(faults > 0 ? [countOf(faults, 'fault')] : []),
  ];
}

function workFacts({ checks, commits, filesChanged }: RunFacts): readonly string[] {
  const [first = ''] = filesChanged;
  const names = filesChanged.length === 1 ? first : `${first} and ${countOf(filesChanged.length - 1, 'more file')}`;
  return [
    ...(filesChanged.length === 0 ? [] : [`changed ${printableCut(names, 120)}`]),
    ...(commits === 0 ? [] : [countOf(commits, 'commit')]),
    ...checks.map(({ command, failed }) => `${printableCut(command, 40)} ${failed ? 'failed' : 'passed'}`),
  ];
}

function patternFacts({ patterns }: RunFacts): readonly string[] {
  return patterns.slice(0, MAX_PATTERNS).map(({ clearedAt, flaggedAt, kind, level, stuck }) => {
    const where = flaggedAt === null ? '' : ` at call ${callNumber(flaggedAt)}`;
    const end = clearedAt === undefined ? 'not over at the end' : `over by call ${callNumber(clearedAt)}`;
    return `${stuck ? `stuck ${inWords('level', level)}: ` : ''}${inWords('pattern', kind)}${where}, ${end}`;
  });
}

function adviceFacts(tally: AdviceTally): readonly string[] {
  const { answered, cleared, delivered, endedEarly, followed, pieces, repeated, undelivered, withheld, withNext } =
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
    ...(answered > 0 ? [`${countText(answered)} answered`] : []),
  ];
}
