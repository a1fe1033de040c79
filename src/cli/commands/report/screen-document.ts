import { countOf, countText } from '../../../core/base/number-text.ts';
import { printableCut } from '../../../core/base/printable.ts';
import type { RunFacts } from '../../../core/facts/run-facts.ts';
import { linesOf, styled, type Document, type Text, type TextStyle } from '../../document/document.ts';
import { totalCost } from '../../runs/run-blocks.ts';
import { localTimeText } from '../../terminal/time-text.ts';
import { lessonsSentence } from './lessons-document.ts';
import type { NightReport, ReportFrame } from './night-report.ts';
import {
  alikeItems,
  isNeed,
  needsCount,
  needsText,
  type AlikeItems,
  type NightSection,
  type ProjectBlock,
  type SectionName,
} from './night-sections.ts';
import { brokenLines, headLines, projectFacts, shownCount } from './report-document.ts';

/** Height of the first screen, with the line after which a shell prompts. */
const SCREEN_LINES = 23;
const PROJECT_CHARS = 14;
const PROJECT_LINE_CHARS = 23;
const REASON_CHARS = 300;
const REASON_INDENT = '         ';
const LEAST_LINES = 2;
/** The share of the line that a title keeps beside a long reason. */
const TITLE_SHARE = 0.25;
/** The folders of the file with which an error begins. */
const FOLDERS = /^(?:[A-Z]:)?[^:"\n]*[\\/](?=[^\\/:\n(]+[:(]\d)/;
/** The zone of a time, such as that at which a limit resets. */
const ZONE = / \((?:UTC|[A-Z]\w+\/[\w/+-]+)\)$/;
/** The columns between a title and a reason. */
const JOINT = 3;
/** From this width on, a line has the time of the last record; in a report of more than a day it always has. */
const WIDE = 100;
const DAY_MS = 86_400_000;

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

const NEXT_WITHOUT_SESSION =
  'Try coxswain without a path for the sessions on this machine, or coxswain demo for a sample run.';

interface ScreenForm extends Pick<ReportFrame, 'isPast' | 'sinceMs' | 'untilMs'> {
  readonly width: number;
  /** Widths of the columns of verbs, projects and numbers. */
  readonly verbChars: number;
  readonly projectChars: number;
  readonly numberChars: number;
}

/**
 * The sessions that need the person have lines first, then those at work that run away. Lines that are left go to whole reasons, to the others
 * at work, and to what answered and what worked.
 */
export function screenDocument(report: NightReport, frame: ReportFrame, width: number): Document {
  const { projects, sections } = report;
  const head = headLines(report, frame, width);
  if (report.sums.count === 0)
    return { blocks: [linesOf(frame.sinceMs === 0 ? [...head, NEXT_WITHOUT_SESSION] : head)] };
  const named = (name: SectionName): readonly NightSection[] => sections.filter((section) => section.name === name);
  const counted = [...named('stopped'), ...named('unknown')];
  const worked = projects.filter((project) => project.worked > 0);
  const keepsFailing = lessonsSentence(report.keepsFailing, width);
  const needs = sections.filter(isNeed).map(alikeItems);
  const open = named('open').flatMap(alikeItems);
  const answered = named('answered').flatMap(alikeItems);
  const pressed = open.filter(({ first }) => first.isPressed).length;
  const needed = needsCount(sections);

  const others = open.length + counted.length > 0 ? 1 : 0;
  const headings = [answered, worked].filter(({ length }) => length > 0).length;
  const needsLines = brokenLines(needsText(sections, ` (${countText(needed)} below)`), width).length;
  let left = SCREEN_LINES - head.length - needsLines - headings - others - (keepsFailing === undefined ? 0 : 1) - 1;
  const openHeading = counted.length > 0 ? 1 : 0;
  if (pressed > 0) left -= openHeading;
  const shares = sharedLines([...needs.map(({ length }) => length), pressed], left);
  left -= shares.reduce((sum, count) => sum + count, 0);
  const shown = needs.flatMap((rows, index) => rows.slice(0, shares[index]));
  const form = formOf([...shown, ...open.slice(0, SCREEN_LINES), ...answered.slice(0, SCREEN_LINES)], frame, width);
  const rows = shown.map((row) => {
    const made = rowOf(row, form, left);
    left -= made.lines.length - 1;
    return made;
  });
  const more = Math.max(0, Math.min(open.length - pressed, pressed > 0 ? left : left - openHeading));
  left -= more + (pressed === 0 && more > 0 ? openHeading : 0);
  const openShown = open.slice(0, (shares.at(-1) ?? 0) + more);
  const [answeredLines = 0, workedLines = 0] = sharedLines([answered.length, worked.length], left);

  const shownNeeds = sessionsIn(shown);
  const needsNote = shownNeeds < needed ? ` (${countText(shownNeeds)} below)` : '';
  const texts: Text[] = [...head, ...brokenLines(needsText(sections, needsNote), width).map((line) => strong(line))];
  texts.push(...rows.flatMap(({ lines }) => lines));
  if (openShown.length > 0) {
    const pressedText =
      pressed === 1
        ? '1 runs away or nearly fills its context'
        : `${countText(pressed)} run away or nearly fill their context`;
    texts.push(
      strong(`At work: ${shownCount(openShown.length, open.length)}${pressed === 0 ? '' : ` (${pressedText})`}`),
      ...openShown.flatMap((row) => rowOf(row, form).lines),
    );
  }
  for (const section of named('answered')) {
    const answeredShown = answered.slice(0, answeredLines);
    const all = section.items.length;
    const count = shownCount(sessionsIn(answeredShown) || all, all);
    texts.push(
      strong(`${section.title}: ${count}${costOf(section)}`),
      ...answeredShown.flatMap((row) => rowOf(row, form).lines),
    );
  }
  for (const section of named('worked')) {
    const places = countOf(worked.length, 'project');
    const shownText = workedLines > 0 && workedLines < worked.length ? ` (${countText(workedLines)} below)` : '';
    texts.push(
      strong(`Worked: ${countOf(section.items.length, 'session')} in ${places}${shownText}${costOf(section)}`),
      ...worked.slice(0, workedLines).map((project) => styled('good', projectLine(project, width))),
    );
  }
  const unlisted = [...(openShown.length > 0 ? [] : named('open')), ...counted];
  if (unlisted.length > 0)
    texts.push(
      printableCut(unlisted.map(({ items, title }) => `${title}: ${countText(items.length)}`).join('. '), width),
    );
  if (keepsFailing !== undefined) texts.push(styled('warn', printableCut(keepsFailing, width)));
  const isWhole = shownNeeds === needed && !rows.some(({ isCut }) => isCut);
  const [first = openShown[0] ?? answered.slice(0, answeredLines)[0]] = shown;
  texts.push(styled('dim', printableCut(nextLine(first, needed, isWhole, width), width)));
  return { blocks: [linesOf(texts)] };
}

function strong(text: string): Text {
  return styled('strong', text);
}

function sessionsIn(rows: readonly AlikeItems[]): number {
  return rows.reduce((sum, { items }) => sum + items.length, 0);
}

function costOf({ items }: NightSection): string {
  const cost = totalCost(items.flatMap(({ below, run }) => [run, ...below]));
  return cost === '' ? '' : `, ${cost}`;
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

function formOf(rows: readonly AlikeItems[], { isPast, sinceMs, untilMs }: ReportFrame, width: number): ScreenForm {
  const longest = (texts: readonly string[]): number => Math.max(0, ...texts.map(({ length }) => length));
  return {
    ...(isPast === undefined ? {} : { isPast }),
    sinceMs,
    untilMs,
    width,
    verbChars: longest(rows.map(({ first }) => first.verb)),
    projectChars: Math.min(PROJECT_CHARS, longest(rows.map(({ first }) => first.project))),
    numberChars: longest(rows.map(({ first }) => countText(first.number))),
  };
}

/** @param more  lines that its whole reason may take below the line; without enough of them it is cut */
function rowOf(
  { first, items, section }: AlikeItems,
  form: ScreenForm,
  more = 0,
): { readonly lines: readonly Text[]; readonly isCut: boolean } {
  const { isPast = false, numberChars, projectChars, sinceMs, untilMs, verbChars, width } = form;
  const { number, project, verb } = first;
  const title = items.length === 1 ? first.title : `${countText(items.length)}× ${first.title}`;
  const why = printableCut(first.why.replace(FOLDERS, '').replace(ZONE, ''), REASON_CHARS);
  const isNight = !isPast && untilMs - sinceMs <= DAY_MS;
  const time = width < WIDE && isNight ? '' : `  ${shortTime(first.run, form).padStart(5)}`;
  const numberText = `${time}  ${countText(number).padStart(numberChars)}`;
  const start = `${verb.padEnd(verbChars)} ${shortProject(project, projectChars).padEnd(projectChars)} `;
  const room = width - start.length - numberText.length;
  const line = (text: string): Text => [
    styled(STYLES[section], start),
    text + ' '.repeat(Math.max(0, room - columnsOf(text))),
    styled('strong', numberText),
  ];
  if (why === '') return { lines: [line(cutTo(title, room))], isCut: false };
  const titleText = cutTo(title, Math.max(Math.ceil(TITLE_SHARE * room), room - columnsOf(why) - JOINT));
  const whyText = cutTo(why, room - columnsOf(titleText) - JOINT);
  // A line that needs the person begins with the reason, any other with its task.
  const joined = isNeed({ name: section }) ? `${whyText} – ${titleText}` : `${titleText}: ${whyText}`;
  if (whyText === why) return { lines: [line(joined)], isCut: false };
  const reasonRoom = Math.floor(((width - REASON_INDENT.length) * why.length) / columnsOf(why));
  const reason = brokenLines(why, reasonRoom, ' ');
  if (reason.length > more) return { lines: [line(joined)], isCut: true };
  return { lines: [line(cutTo(title, room)), ...reason.map((part) => `${REASON_INDENT}${part}`)], isCut: false };
}

/** Characters that take two columns of a terminal. One outside the basic plane, such as an emoji, has two code units. */
const WIDE_CHARACTERS =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]/g;

function columnsOf(text: string): number {
  return text.length + (text.match(WIDE_CHARACTERS)?.length ?? 0);
}

function cutTo(text: string, columns: number): string {
  let chars = columns;
  let cut = printableCut(text, chars);
  while (columnsOf(cut) > columns) {
    chars -= Math.ceil((columnsOf(cut) - columns) / 2);
    cut = printableCut(text, chars);
  }
  return cut;
}

function projectLine({ ofWorked, project, sessions, worked }: ProjectBlock, width: number): string {
  const count =
    worked === sessions ? countOf(worked, 'session') : `${countText(worked)} of ${countOf(sessions, 'session')}`;
  const facts = [count, ...(ofWorked === undefined ? [] : projectFacts(ofWorked))];
  return printableCut(`${shortProject(project, PROJECT_LINE_CHARS)}: ${facts.join(', ')}`, width);
}

function nextLine(first: AlikeItems | undefined, needed: number, isWhole: boolean, width: number): string {
  const number = countText(first?.first.number ?? 1);
  const open =
    needed > 0
      ? `Open first: coxswain ${number}. `
      : first === undefined
        ? ''
        : `coxswain ${number} opens number ${number}. `;
  const needs = isWhole
    ? 'coxswain --all lists every session'
    : `coxswain --needs-me lists all ${countText(needed)}, --all every session`;
  const text = `${open}${needs}`;
  const project = ', --project NAME those of one project';
  return text.length + project.length <= width ? `${text}${project}` : text;
}
