import { branchText, commitsText, pullRequestsText } from '../../../core/facts/run-work.ts';
import { checkResult, type LastCheck } from '../../../core/facts/run-verdict.ts';
import { countOf, countText, durationText } from '../../../core/base/number-text.ts';
import { costText, tokenFacts } from '../../../core/facts/usage-text.ts';
import {
  linesOf,
  listBlock,
  sectionOf,
  styled,
  type Block,
  type Document,
  type ListItem,
  type Text,
  type TextStyle,
} from '../../document/document.ts';
import {
  belowFacts,
  changedFiles,
  costFacts,
  countFacts,
  onRecord,
  runMark,
  totalCost,
} from '../../runs/run-blocks.ts';
import { printable, printableCut } from '../../../core/base/printable.ts';
import { localTimeText, zoneText } from '../../terminal/time-text.ts';
import { lessonsSentence } from './lessons-document.ts';
import type { NightReport, ReportFrame, ShownMoment } from './night-report.ts';
import {
  alikeItems,
  type AlikeItems,
  type NightItem,
  type NightSection,
  type ProjectBlock,
  type ProjectState,
  type SectionName,
} from './night-sections.ts';
import type { AdviceTally, RunFacts } from '../../../core/facts/run-facts.ts';

const ID_CHARS = 80;
const TEXT_CHARS = 160;
/** Height of the first screen, with the line after which a shell prompts. */
const SCREEN_LINES = 23;
const VERB_CHARS = 8;
const PROJECT_CHARS = 14;
const LEAST_LINES = 2;
/** The share of the line that a title keeps beside a long reason. */
const TITLE_SHARE = 0.42;

const STYLES: Readonly<Record<SectionName, TextStyle>> = {
  waiting: 'warn',
  failed: 'bad',
  failing: 'bad',
  stuck: 'warn',
  refused: 'note',
  asks: 'note',
  open: 'note',
  answered: 'dim',
  stopped: 'dim',
  unknown: 'dim',
  worked: 'good',
};

/** Why the sessions of these sections need the person. */
const NEEDS: Partial<Record<SectionName, string>> = {
  waiting: 'waiting',
  failed: 'failed or cut off',
  failing: 'with a failed check',
  stuck: 'stuck',
  refused: 'refused',
  asks: 'with a question',
};

const PRESSED = 'Runs away or nearly fills its context';
const NEXT_WITHOUT_SESSION =
  'Try coxswain without a path for the sessions on this machine, or coxswain demo for a sample run.';

const COUNTED: ReadonlySet<SectionName> = new Set(['open', 'stopped', 'unknown']);

interface ScreenForm extends Pick<ReportFrame, 'isPast' | 'sinceMs' | 'untilMs'> {
  readonly width: number;
  /** Width of the column of projects. */
  readonly projectChars: number;
}

export function screenDocument(report: NightReport, frame: ReportFrame, width: number): Document {
  const { projects, sections } = report;
  const head = headLines(report, frame, width);
  if (report.sums.count === 0)
    return { blocks: [linesOf(frame.sinceMs === 0 ? [...head, NEXT_WITHOUT_SESSION] : head)] };
  const listed = sections.flatMap((section): readonly NightSection[] => {
    const { items, name } = section;
    // Of the sessions at work, those that fill their context or run away.
    const pressed = name === 'open' ? items.filter(({ why }) => why !== '') : [];
    if (pressed.length > 0) return [{ name, title: PRESSED, items: pressed }];
    return name === 'worked' || COUNTED.has(name) ? [] : [section];
  });
  const worked = projects.filter((project) => project.worked > 0);
  const others = otherLine(sections);
  const keepsFailing = lessonsSentence(report.keepsFailing);
  const fixed = head.length + [others, keepsFailing].filter((line) => line !== undefined).length + 1;
  const groups = listed.map(alikeItems);
  const sizes = [...groups.map(({ length }) => length), worked.length];
  const lines = sharedLines(sizes, SCREEN_LINES - fixed - sizes.filter((size) => size > 0).length);
  const texts: Text[] = [...head];
  const shownGroups = groups.map((group, index) => group.slice(0, lines[index]));
  const projectLengths = shownGroups.flat().map(({ first }) => first.project.length);
  const form = { ...frame, width, projectChars: Math.min(PROJECT_CHARS, Math.max(0, ...projectLengths)) };
  for (const [index, section] of listed.entries()) {
    const shown = shownGroups[index] ?? [];
    const shownSessions = shown.reduce((sum, { items }) => sum + items.length, 0);
    texts.push(styled('strong', `${section.title}: ${shownCount(shownSessions, section.items.length)}`));
    texts.push(...shown.map((group) => itemLine(group, section, form)));
  }
  const shownProjects = worked.slice(0, lines.at(-1));
  if (worked.length > 0) {
    const sessions = worked.reduce((sum, project) => sum + project.worked, 0);
    const places =
      shownProjects.length < worked.length
        ? `, ${countText(shownProjects.length)} of ${countOf(worked.length, 'project')} shown`
        : ` in ${countOf(worked.length, 'project')}`;
    const own = `with ${sessions === 1 ? 'its' : 'their'} cost and commits`;
    texts.push(styled('strong', `Worked: ${countOf(sessions, 'session')}${places}, ${own}`));
    texts.push(...shownProjects.map((project) => styled('good', projectLine(project, width))));
  }
  if (others !== undefined) texts.push(printableCut(others, width));
  if (keepsFailing !== undefined) texts.push(styled('warn', printableCut(keepsFailing, width)));
  texts.push(styled('dim', printableCut(nextLine(sections), width)));
  return { blocks: [linesOf(texts)] };
}

/** One line for each section, then two, then the rest from the first section on. */
function sharedLines(sizes: readonly number[], room: number): readonly number[] {
  const lines = sizes.map(() => 0);
  let left = room;
  for (const most of [1, LEAST_LINES, Infinity])
    for (const [index, size] of sizes.entries()) {
      const shown = lines[index] ?? 0;
      const more = Math.max(0, Math.min(Math.min(size, most) - shown, left));
      lines[index] = shown + more;
      left -= more;
    }
  return lines;
}

function shownCount(shown: number, all: number): string {
  return shown === all ? countText(all) : `${countText(shown)} of ${countText(all)}`;
}

/** From this width on, a line has the time of the last record; in a report of more than a day it always has. */
const WIDE = 100;
const DAY_MS = 86_400_000;

/** `02:14` within a day, else the age: `3d`. The day, `11-27`, in a report that does not end now. */
function shortTime({ lastAtMs }: RunFacts, { isPast, untilMs }: Pick<ScreenForm, 'isPast' | 'untilMs'>): string {
  const ageDays = Math.floor((untilMs - lastAtMs) / DAY_MS);
  if (lastAtMs === 0) return '';
  if (isPast === true) return localTimeText(lastAtMs).slice(5, 10);
  return ageDays < 1 ? localTimeText(lastAtMs).slice(-5) : `${countText(ageDays)}d`;
}

/** The last part of a long name tells most. The first one tells it from another folder of that name. */
export function shortProject(name: string, chars: number): string {
  const [first = '', ...more] = name.split('/');
  const last = more.at(-1);
  if (name.length <= chars || last === undefined) return printableCut(name, chars);
  const room = chars - last.length - 2;
  if (room < 0) return printableCut(last, chars);
  return more.length === 1 ? `…${first.slice(first.length - room)}/${last}` : `${first.slice(0, room)}…/${last}`;
}

function itemLine({ first, items }: AlikeItems, { name }: NightSection, form: ScreenForm): Text {
  const { isPast = false, projectChars, sinceMs, untilMs, width } = form;
  const { number, project, verb, why } = first;
  const title = items.length === 1 ? first.title : `${countText(items.length)}× ${first.title}`;
  const isNight = !isPast && untilMs - sinceMs <= DAY_MS;
  const time = width < WIDE && isNight ? '' : `  ${shortTime(first.run, form).padStart(5)}`;
  const numberText = `${time}${`  ${countText(number)}`.padStart(6)}`;
  const start = `${verb.padEnd(VERB_CHARS)} ${shortProject(project, projectChars).padEnd(projectChars)} `;
  const room = width - 2 - start.length - numberText.length;
  const whyText = printable(why);
  const titleRoom = whyText === '' ? room : Math.max(Math.ceil(TITLE_SHARE * room), room - whyText.length - 2);
  const titleText = printableCut(title, titleRoom);
  const reason = whyText === '' ? '' : printableCut(`: ${whyText}`, room - titleText.length);
  return [styled(STYLES[name], start), `${titleText}${reason}`.padEnd(room), styled('strong', numberText)];
}

function projectLine({ ofWorked, project, sessions, worked }: ProjectBlock, width: number): string {
  const count =
    worked === sessions ? countOf(worked, 'session') : `${countText(worked)} of ${countOf(sessions, 'session')}`;
  return printableCut(
    `${shortProject(project, PROJECT_CHARS + VERB_CHARS + 1)}: ${[count, ...(ofWorked === undefined ? [] : projectFacts(ofWorked))].join(', ')}`,
    width - 2,
  );
}

function projectFacts(state: ProjectState): readonly string[] {
  const { costUsd, isLeast, lastCheck, uncommitted = 0 } = state;
  return [
    ...(costUsd === undefined ? [] : [costText(costUsd, isLeast)]),
    ...commitsText(state),
    ...pullRequestsText(state).map((text) => text.replaceAll(/https:\/\/[^/]+\//g, '')),
    ...(uncommitted === 0 ? [] : [`${countOf(uncommitted, 'file')} changed since the last commit`]),
    ...(lastCheck === undefined ? [] : [printableCut(lastCheck, 60)]),
  ];
}

function otherLine(sections: readonly NightSection[]): string | undefined {
  const parts = sections
    .filter(({ name }) => COUNTED.has(name))
    .map(({ items, title }) => `${title}: ${countText(items.length)}`);
  return parts.length === 0 ? undefined : parts.join('. ');
}

function nextLine(sections: readonly NightSection[]): string {
  const [first] = sections.flatMap(({ items }) => items);
  const open = first === undefined ? '' : `coxswain ${first.number} shows number ${first.number}, and so on; `;
  return `${open}--all lists all; --project NAME only one`;
}

function headLines(
  { projects, sections, sums, unpricedModels }: NightReport,
  frame: ReportFrame,
  width: number,
): readonly string[] {
  const { activeMs, below, costUsd, count, countedEarly, lostRecords, withoutPrice } = sums;
  const span = spanText(frame);
  if (count === 0) return [`No session ${frame.sinceMs === 0 ? `in ${printableCut(frame.from, 200)}` : span}.`];
  const sessions = `${countOf(count - below, 'session')}${below > 0 ? ` and ${countOf(below, 'subagent')}` : ''}`;
  const needs = sections.filter(({ name }) => NEEDS[name] !== undefined);
  const needed = needs.reduce((sum, { items }) => sum + items.length, 0);
  const why = needs.map(({ items, name }) => `${countText(items.length)} ${NEEDS[name] ?? ''}`).join(', ');
  const models = unpricedModels.length === 0 ? '' : `: ${printableCut(unpricedModels.join(', '), 60)}`;
  const facts = [
    `${sessions} in ${countOf(projects.length, 'project')} ${span}`,
    needed > 0 ? `${countText(needed)} ${needed === 1 ? 'needs' : 'need'} you: ${why}` : 'none needs you',
    ...(activeMs > 0 ? [`${durationText(activeMs)} active`] : []),
    ...(costUsd === undefined ? [] : [costText(costUsd, countedEarly > 0)]),
    ...(withoutPrice > 0 ? [`${countOf(withoutPrice, 'run')} without a known cost${models}`] : []),
    ...(lostRecords === undefined ? [] : [`${countOf(lostRecords, 'record')} lost`]),
  ];
  const lines: string[] = [];
  for (const fact of facts) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + fact.length + 2 <= width - 2) lines[lines.length - 1] = `${last}; ${fact}`;
    else lines.push(...brokenLines(fact, width - 2));
  }
  return lines;
}

function brokenLines(fact: string, width: number): readonly string[] {
  const comma = fact.lastIndexOf(', ', width - 1);
  if (fact.length <= width || comma < 0) return [printableCut(fact, width)];
  return [fact.slice(0, comma + 1), ...brokenLines(fact.slice(comma + 2), width)];
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
  const head: Block = { type: 'facts', facts: [frame.from, ...headLines(report, frame, 1_000)], separator: '; ' };
  if (sums.count === 0) return { title, blocks: [head] };
  const keepsFailing = lessonsSentence(report.keepsFailing);
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
      ...sectionOf('What keeps failing', linesOf(keepsFailing === undefined ? [] : [keepsFailing])),
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
      `${title}: ${shownCount(shown.length, items.length)}`,
      listBlock(alikeItems({ ...section, items: shown }).map(groupItem)),
    );
  });
  const listed = sections.reduce((sum, { items }) => sum + items.length, 0);
  const hidden = sums.count - sums.below - listed;
  return hidden > 0 ? [...blocks, linesOf([`and ${countOf(hidden, 'earlier session')}; --json lists all`])] : blocks;
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
  const others = items.slice(1).map(({ number }) => number);
  const total = totalCost(items.map(({ run }) => run));
  const cost = total === '' ? '' : `; ${total} in all`;
  const text = `and ${countOf(others.length, 'more session')} with the same task and end: ${printableCut(others.join(', '), 120)}${cost}`;
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
        facts: [ownEvidence(verdict, below), ...asked, ...(verdict.verdict === 'open' ? [why] : [])]
          .filter(Boolean)
          .map((fact) => printableCut(fact, TEXT_CHARS)),
        separator: '; ',
      },
      [
        [...runFacts(run), ...belowFacts(run, below).map((fact) => `and ${fact}`)].join(', '),
        styled('dim', `  ${printableCut(id, ID_CHARS)}`),
      ],
      ...[workFacts(run), belowWork(run, below)].filter((facts) => facts.length > 0).map((facts) => ({ facts })),
      ...(lastMessage === undefined ? [] : [{ facts: [`“${printableCut(lastMessage, TEXT_CHARS)}”`] }]),
      ...(problem === undefined ? [] : [styled('bad', printableCut(problem, 200))]),
    ],
  };
}

function runFacts(run: RunFacts): readonly string[] {
  const { activeMs, advice, faults, startedAtMs } = run;
  return [
    ...(startedAtMs > 0 ? [localTimeText(startedAtMs)] : []),
    ...countFacts(run),
    ...(activeMs > 0 ? [`${durationText(activeMs)} active`] : []),
    ...tokenFacts(run),
    ...costFacts(run),
    ...(advice.pieces > 0 ? [`advice ${advice.delivered} of ${advice.pieces}`] : []),
    ...(faults > 0 ? [countOf(faults, 'fault')] : []),
  ];
}

/** What the subagents did, which the figures and the ending of their session leave out. */
function belowWork(run: RunFacts, below: readonly RunFacts[]): readonly string[] {
  const files = new Set(below.flatMap(changedFiles)).size;
  const commits = below.reduce((sum, { commits: count }) => sum + count, 0);
  const check = below
    .toSorted((a, b) => b.lastAtMs - a.lastAtMs)
    .find(({ checks }) => checks.length > 0)
    ?.checks.at(-1);
  const work = [
    ...(files === 0 ? [] : [`changed ${countOf(files, 'file')}`]),
    ...(commits === 0 ? [] : [countOf(commits, 'commit')]),
    ...(check === undefined ? [] : [checkFact(check)]),
  ];
  return work.map((fact, index) => (index === 0 ? `subagents${onRecord(run, below)}: ${fact}` : fact));
}

function ownEvidence({ evidence }: RunFacts['verdict'], below: readonly RunFacts[]): string {
  const isChecked = below.some(({ checks }) => checks.length > 0);
  return isChecked ? evidence.replace('no check that', 'no check of its own that') : evidence;
}

function workFacts(run: RunFacts): readonly string[] {
  const files = changedFiles(run);
  const [first = ''] = files;
  const names = files.length === 1 ? first : `${first} and ${countOf(files.length - 1, 'more file')}`;
  return [
    ...(files.length === 0 ? [] : [`changed ${printableCut(names, 120)}`]),
    ...commitsText(run),
    ...branchText(run).map((text) => printableCut(text, 70)),
    ...pullRequestsText(run).map((text) => printableCut(text, 120)),
    ...run.checks.map(checkFact),
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
