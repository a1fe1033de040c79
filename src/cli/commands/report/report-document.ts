import { branchText, commitsText, pullRequestsText, uncommittedText } from '../../../core/facts/work-text.ts';
import { checkResult, type LastCheck } from '../../../core/facts/run-verdict.ts';
import { checksWith } from '../../../core/facts/subagent-work.ts';
import { countOf, countText, roundedDurationText } from '../../../core/base/number-text.ts';
import { costText } from '../../../core/facts/usage-text.ts';
import {
  linesOf,
  listBlock,
  sectionOf,
  styled,
  type Block,
  type Document,
  type ListItem,
} from '../../document/document.ts';
import {
  activeFacts,
  belowFacts,
  changedFiles,
  countFacts,
  onRecord,
  runMark,
  totalCost,
  usageFacts,
} from '../../runs/run-blocks.ts';
import { printableCut } from '../../../core/base/printable.ts';
import { localTimeText, zoneText } from '../../terminal/time-text.ts';
import { lessonsSentence } from './lessons-document.ts';
import type { NightReport, ReportFrame, ShownMoment } from './night-report.ts';
import {
  alikeItems,
  causesText,
  isNeed,
  needsText,
  numbersText,
  type AlikeItems,
  type NightItem,
  type ProjectState,
} from './night-sections.ts';
import type { AdviceTally, RunFacts } from '../../../core/facts/run-facts.ts';

const ID_CHARS = 80;
const TEXT_CHARS = 160;

export function shownCount(shown: number, all: number): string {
  return shown === all ? countText(all) : `${countText(shown)} of ${countText(all)}`;
}

export function projectFacts(state: ProjectState): readonly string[] {
  const { costUsd, isLeast, lastCheck } = state;
  return [
    ...(costUsd === undefined ? [] : [costText(costUsd, isLeast)]),
    ...commitsText(state),
    ...pullRequestsText(state).map((text) => text.replaceAll(/https:\/\/[^/]+\//g, '')),
    ...uncommittedText(state),
    ...(lastCheck === undefined ? [] : [printableCut(lastCheck, 60)]),
  ];
}

export function headLines({ projects, sums }: NightReport, frame: ReportFrame, width: number): readonly string[] {
  const { activeMs, below, costUsd, count, countedEarly, lostRecords, side, withoutPrice } = sums;
  const agents = below - side;
  const span = spanText(frame);
  if (count === 0) return [`No session ${frame.sinceMs === 0 ? `in ${printableCut(frame.from, 200)}` : span}.`];
  const sessions = `${countOf(count - below, 'session')}${agents > 0 ? `, ${countOf(agents, 'subagent')}` : ''}`;
  const unpriced = withoutPrice > 0 ? `${countText(withoutPrice)} without a known price` : '';
  const cost = costUsd === undefined ? '' : costText(costUsd, countedEarly + withoutPrice > 0);
  const facts = [
    `${sessions} in ${countOf(projects.length, 'project')} ${span}`,
    [cost, unpriced].filter(Boolean).join(', '),
    lostRecords === undefined ? '' : `${countOf(lostRecords, 'record')} lost`,
  ].filter(Boolean);
  const short = facts.map((fact) => fact.replace(/ in the (?=last )/, ', ').replace(/known (?=price$)/, ''));
  const least = short.map((fact) => fact.replace(/ in [\d,]+ projects?(?=\W)/, ''));
  const shown = [facts, short, least].find((all) => all.join('; ').length <= width) ?? facts;
  const lines: string[] = [];
  for (const fact of shown) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + fact.length + 2 <= width) lines[lines.length - 1] = `${last}; ${fact}`;
    else lines.push(printableCut(fact, width));
  }
  const active = `; ${roundedDurationText(activeMs)} active`;
  const last = lines.at(-1) ?? '';
  // The active time gets no line of its own.
  return activeMs > 0 && last.length + active.length <= width ? [...lines.slice(0, -1), `${last}${active}`] : lines;
}

/** @param end  where a line may end; its blank is left out */
export function brokenLines(text: string, width: number, end = ', '): readonly string[] {
  const at = text.lastIndexOf(end, width - 1);
  if (text.length <= width || at < 0) return [printableCut(text, width)];
  return [text.slice(0, at + end.length - 1), ...brokenLines(text.slice(at + end.length), width, end)];
}

function spanText({ isPast, sinceMs, untilMs }: ReportFrame): string {
  if (isPast === true) return `${sinceMs === 0 ? '' : `from ${localTimeText(sinceMs)} `}to ${localTimeText(untilMs)}`;
  if (sinceMs === 0) return 'in all records';
  const hours = (untilMs - sinceMs) / 3_600_000;
  const isWhole = Number.isInteger(hours) && hours > 0 && hours < 48;
  const days = hours / 24;
  if (isWhole) return `in the last ${countOf(hours, 'hour')}`;
  return Number.isInteger(days) ? `in the last ${countOf(days, 'day')}` : `since ${localTimeText(sinceMs)}`;
}

export function reportDocument(report: NightReport, frame: ReportFrame, maxRuns: number): Document {
  const { advice, faults, moments, sums } = report;
  const title = `What the agents did until ${localTimeText(frame.untilMs)} ${zoneText(frame.untilMs)}`;
  const head: Block = {
    type: 'facts',
    facts: [frame.from, ...headLines(report, frame, 1_000), ...modelsFact(report), ...needsFact(report)],
    separator: '; ',
  };
  if (sums.count === 0) return { title, blocks: [head] };
  return {
    title,
    blocks: [
      head,
      ...itemSections(report, maxRuns),
      ...groupSections(report),
      ...sectionOf(
        'Projects',
        listBlock(
          report.projects.map(({ folder, project, sessions, worked, ...state }) => ({
            head: styled('strong', printableCut(project, ID_CHARS)),
            lines: [
              { facts: [`${countText(worked)} of ${countOf(sessions, 'session')} worked`, ...projectFacts(state)] },
              styled('dim', printableCut(folder, 200)),
            ],
          })),
        ),
      ),
      ...sectionOf('What keeps failing', linesOf(lessonsSentence(report.keepsFailing))),
      ...sectionOf('Worth a look', { type: 'list', isNumbered: true, items: moments.map(momentItem) }),
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

function modelsFact({ unpricedModels }: NightReport): readonly string[] {
  if (unpricedModels.length === 0) return [];
  return [`no known price of ${printableCut(unpricedModels.join(', '), 60)}`];
}

function needsFact({ sections, sums }: NightReport): readonly string[] {
  return sums.count === 0 ? [] : [needsText(sections)];
}

/** Only the sessions that need the person, each with its whole reason. */
export function needsDocument(report: NightReport, frame: ReportFrame): Document {
  const head = [...headLines(report, frame, 1_000), ...needsFact(report)];
  return {
    blocks: [
      { type: 'facts', facts: head, separator: '; ' },
      ...report.sections.filter(isNeed).flatMap((section) =>
        sectionOf(
          `${section.title}: ${countText(section.items.length)}${causesText(section)}`,
          listBlock(
            section.items.map(({ number, project, run, title, why }) => ({
              mark: runMark(run),
              head: [
                styled('strong', `${countText(number)}  `),
                styled('dim', `${printableCut(project, 40)}  `),
                styled('strong', title),
              ],
              lines: [`${localTimeText(run.lastAtMs)}${why === '' ? '' : `, ${why}`}`],
            })),
          ),
        ),
      ),
      ...earlierBlocks(report),
    ],
  };
}

function momentItem({ atMs, call, command, runId, what }: ShownMoment): ListItem {
  const timePrefix = atMs === undefined ? '' : `${localTimeText(atMs)}, `;
  const callPrefix = call === undefined ? '' : `call ${countText(call)} of `;
  return {
    head: printableCut(what, 200),
    lines: [`${timePrefix}${callPrefix}run ${printableCut(runId, ID_CHARS)}`, styled('code', command)],
  };
}

function itemSections({ sections, sums }: NightReport, maxRuns: number): readonly Block[] {
  let left = maxRuns;
  const blocks = sections.flatMap((section) => {
    const { items, title } = section;
    const shown = items.slice(0, Math.max(0, left));
    left -= shown.length;
    return sectionOf(
      `${title}: ${shownCount(shown.length, items.length)}${causesText(section)}`,
      listBlock(alikeItems({ ...section, items: shown }).map(groupItem)),
    );
  });
  return [...blocks, ...earlierBlocks({ sections, sums })];
}

/** Counts the sessions that are too many to be in sections. */
function earlierBlocks({ sections, sums }: Pick<NightReport, 'sections' | 'sums'>): readonly Block[] {
  const hidden = sums.count - sums.below - sections.reduce((sum, { items }) => sum + items.length, 0);
  return hidden > 0 ? [linesOf([`and ${countOf(hidden, 'earlier session')}; --json lists all`])] : [];
}

function groupSections({ grouping, groups }: NightReport): readonly Block[] {
  if (groups === undefined || grouping === 'project') return [];
  return sectionOf(
    grouping === 'person' ? 'People' : 'Agents',
    linesOf(
      groups.map(({ count, died, name }) => {
        const failed = died > 0 ? `, ${countText(died)} failed or cut off` : '';
        return `${printableCut(name, 200)}: ${countOf(count, 'run')}${failed}`;
      }),
    ),
  );
}

function groupItem({ first, items }: AlikeItems): ListItem {
  const item = runItem(first);
  if (items.length === 1) return item;
  const others = items.slice(1);
  const total = totalCost(items.flatMap(({ below, run }) => [run, ...below]));
  const cost = total === '' ? '' : `; ${total} in all`;
  const text = `and ${countOf(others.length, 'more session')} with the same end: ${printableCut(numbersText(others), 120)}${cost}`;
  return { ...item, lines: [...(item.lines ?? []), text] };
}

function runItem({ below, number, project, run, title, why }: NightItem): ListItem {
  const { id, lastMessage, problem, question, verdict } = run;
  const asked = question === undefined ? [] : [`it asks: ${question}`];
  return {
    mark: runMark(run),
    head: [styled('strong', title), styled('dim', `  ${printableCut(project, 40)}  ${countText(number)}`)],
    lines: [
      {
        facts: [verdict.verdict === 'open' ? why : verdict.evidence, ...asked]
          .filter(Boolean)
          .map((fact) => printableCut(fact, TEXT_CHARS)),
        separator: '; ',
      },
      [
        [...runFacts(run), ...belowFacts(run, below).map((fact) => `and ${fact}`)].join(', '),
        styled('dim', `  ${printableCut(id, ID_CHARS)}`),
      ],
      ...[workFacts(run, below), belowWork(run, below)].filter((facts) => facts.length > 0).map((facts) => ({ facts })),
      ...(lastMessage === undefined ? [] : [{ facts: [`“${printableCut(lastMessage, TEXT_CHARS)}”`] }]),
      ...(problem === undefined ? [] : [styled('bad', printableCut(problem, 200))]),
    ],
  };
}

function runFacts(run: RunFacts): readonly string[] {
  const { advice, faults, startedAtMs } = run;
  return [
    ...(startedAtMs > 0 ? [localTimeText(startedAtMs)] : []),
    ...countFacts(run),
    ...activeFacts(run),
    ...usageFacts(run),
    ...(advice.pieces > 0 ? [`advice ${advice.delivered} of ${advice.pieces}`] : []),
    ...(faults > 0 ? [countOf(faults, 'fault')] : []),
  ];
}

/** What the subagents did, which the figures and the ending of their session leave out. */
function belowWork(run: RunFacts, below: readonly RunFacts[]): readonly string[] {
  const files = new Set(below.flatMap(changedFiles)).size;
  const commits = below.reduce((sum, { commits: count }) => sum + count, 0);
  const checks = checksWith(run.checks, below).filter(({ agent }) => agent !== undefined);
  const check = checks.findLast(({ failed }) => failed) ?? checks.at(-1);
  const work = [
    ...(files === 0 ? [] : [`seen to change ${countOf(files, 'file')}`]),
    ...(commits === 0 ? [] : [countOf(commits, 'commit')]),
    ...(check === undefined ? [] : [checkFact(check)]),
  ];
  return work.map((fact, index) => (index === 0 ? `subagents${onRecord(run, below)}: ${fact}` : fact));
}

function workFacts(run: RunFacts, below: readonly RunFacts[]): readonly string[] {
  const files = changedFiles(run);
  const [first = ''] = files;
  const names = files.length === 1 ? first : `${first} and ${countOf(files.length - 1, 'more file')}`;
  return [
    ...(files.length === 0 ? [] : [`seen to change ${printableCut(names, 120)}`]),
    ...commitsText(run),
    ...branchText(run).map((text) => printableCut(text, 70)),
    ...pullRequestsText(run).map((text) => printableCut(text, 120)),
    ...checksWith(run.checks, below).flatMap((check) => (check.agent === undefined ? checkFact(check) : [])),
  ];
}

function checkFact(check: LastCheck): string {
  return `${printableCut(check.command, 40)} ${checkResult(check)}`;
}

function adviceFacts(tally: AdviceTally): readonly string[] {
  const { answered, cleared, delivered, followed, pieces, repeated, undelivered, withheld } = tally;
  return [
    `${countText(delivered)} of ${countText(pieces)} delivered`,
    ...(withheld > 0 ? [`${countText(withheld)} withheld`] : []),
    ...(undelivered > 0 ? [`${countText(undelivered)} not delivered`] : []),
    ...(followed > 0
      ? [`the agent left the pattern within 10 calls after ${countText(cleared)} of ${countText(followed)}`]
      : []),
    ...(repeated > 0 ? [`it made the same call again after ${countText(repeated)}`] : []),
    ...(answered > 0 ? [`${countText(answered)} answered`] : []),
  ];
}
