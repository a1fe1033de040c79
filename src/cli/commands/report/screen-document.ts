import { countOf, countText } from '../../../core/base/number-text.ts';
import { printable, printableCut, shortPaths } from '../../../core/base/printable.ts';
import type { RunFacts } from '../../../core/facts/run-facts.ts';
import { linesOf, styled, type Document, type Text, type TextStyle } from '../../document/document.ts';
import { totalCost } from '../../runs/run-blocks.ts';
import { localTimeText } from '../../terminal/time-text.ts';
import { lessonsSentence } from './lessons-document.ts';
import type { NightReport, ReportFrame } from './night-report.ts';
import {
  alikeItems,
  costOf,
  hasCause,
  isNeed,
  needsCount,
  needsText,
  numbersText,
  stoppedText,
  withoutOpening,
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
const REASON_CHARS = 400;
const REASON_INDENT = '         ';
/** A shorter part of a title is left out. In the line of a session that needs nobody, the title has at least this share. */
const TITLE_CHARS = 10;
const TITLE_SHARE = 0.25;
/** Rows of sessions that were cut off without a known cause, where not all rows fit. */
const FEW_ROWS = 3;
const FEW_NUMBERS = 2;
/** The zone of a time, such as that at which a limit resets. */
const ZONE = / \((?:UTC|[A-Z]\w+\/[\w/+-]+)\)$/;
/** The columns between a title and a reason. */
const JOINT = 3;
/** From this width on, a line has the time of the last record. */
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

interface ScreenForm extends Pick<ReportFrame, 'isPast' | 'untilMs'> {
  readonly width: number;
  /** Widths of the columns of verbs, projects and numbers. */
  readonly verbChars: number;
  readonly projectChars: number;
  readonly numberChars: number;
}

/**
 * The sessions that need the person have lines first, then those at work that run away. Lines that are left go to whole reasons, to the others
 * at work, and to what answered and what worked. If not all that need the person fit, fewer have lines, with whole reasons.
 */
export function screenDocument(report: NightReport, frame: ReportFrame, width: number): Document {
  const { projects, sections } = report;
  const head = headLines(report, frame, width);
  if (report.sums.count === 0)
    return { blocks: [linesOf(frame.sinceMs === 0 ? [...head, NEXT_WITHOUT_SESSION] : head)] };
  const named = (name: SectionName): readonly NightSection[] => sections.filter((section) => section.name === name);
  const counted = [...named('stopped'), ...named('unknown')];
  const listed = new Set(sections.flatMap(({ items }) => items.flatMap(({ below, run }) => [run, ...below])));
  const elsewhere = report.runs.filter((run) => run.parentId !== undefined && !listed.has(run));
  const worked = projects.filter((project) => project.worked > 0);
  const keepsFailing = lessonsSentence(report.keepsFailing, width);
  const needs = sections.filter(isNeed).flatMap(alikeItems);
  const open = named('open').flatMap(alikeItems);
  const answered = named('answered').flatMap(alikeItems);
  const pressed = open.filter(({ first }) => first.isPressed).length;
  const form = formOf([...needs, ...open, ...answered.slice(0, SCREEN_LINES)], frame, width);

  const others = open.length + counted.length + elsewhere.length > 0 ? 1 : 0;
  const headings = [answered, worked].filter(({ length }) => length > 0).length;
  const needsLines = brokenLines(needsText(sections), width);
  const rest = [head.length, needsLines.length, headings, others, keepsFailing.length, 1];
  let left = SCREEN_LINES - rest.reduce((sum, count) => sum + count, 0);
  const openHeading = counted.length + elsewhere.length > 0 ? 1 : 0;
  const pressedLines = pressed === 0 ? 0 : Math.min(pressed, Math.max(1, left - openHeading - needs.length), FEW_ROWS);
  if (pressed > 0) left -= openHeading + pressedLines;
  const shown = shownRows(needs, form, left);
  const hidden = hiddenText(
    needs.filter((row) => !shown.includes(row)),
    width,
  );
  left -= shown.length + (hidden === '' ? 0 : 1);
  const heights = shown.map((row) => heightOf(row, form));
  const rows = shown.map((row, index) => {
    const reserved = heights.slice(index + 1).reduce((sum, height) => sum + height - 1, 0);
    const made = rowOf(row, form, Math.min(left, Math.max((heights[index] ?? 1) - 1, left - reserved)));
    left -= made.lines.length - 1;
    return made;
  });
  const more = Math.max(0, Math.min(open.length - pressedLines, pressed > 0 ? left : left - openHeading));
  left -= more + (pressed === 0 && more > 0 ? openHeading : 0);
  const openShown = open.slice(0, pressedLines + more);
  // A line is left for what worked.
  const answeredLines = Math.min(answered.length, Math.max(Math.min(1, left), left - Math.min(1, worked.length)));
  const workedLines = Math.min(worked.length, left - answeredLines);

  const texts: Text[] = [...head, ...needsLines.map(strong), ...rows.flatMap(({ lines }) => lines)];
  if (hidden !== '') texts.push(styled('note', printableCut(hidden, width)));
  if (openShown.length > 0) {
    const pressedText =
      pressed === 1
        ? '1 runs away or nearly fills its context'
        : `${countText(pressed)} run away or nearly fill their context`;
    texts.push(
      strong(
        `At work: ${shownCount(openShown.length, open.length)}${pressed === 0 ? '' : ` (${pressedText})`}${costOf(open.map((row) => row.first))}`,
      ),
      ...openShown.flatMap((row) => rowOf(row, form).lines),
    );
  }
  for (const section of named('answered')) {
    const answeredShown = answered.slice(0, answeredLines);
    const all = section.items.length;
    const count = shownCount(sessionsIn(answeredShown) || all, all);
    const list = answeredLines === 0 ? '. List: coxswain --all' : '';
    const [line = ''] = brokenLines(`${section.title}: ${count}${costOf(section.items)}${list}`, width, '. ');
    texts.push(strong(line.replace(/\.$/, '')), ...answeredShown.flatMap((row) => rowOf(row, form).lines));
  }
  for (const section of named('worked')) {
    const places = countOf(worked.length, 'project');
    const shownText = workedLines > 0 && workedLines < worked.length ? ` (${countText(workedLines)} below)` : '';
    texts.push(
      strong(
        `${section.title}: ${countOf(section.items.length, 'session')} in ${places}${shownText}${costOf(section.items)}`,
      ),
      ...worked.slice(0, workedLines).map((project) => styled('good', projectLine(project, width))),
    );
  }
  const unlisted = [...(openShown.length > 0 ? [] : named('open')), ...counted].map(
    (section) => `${section.title}: ${countText(section.items.length)}${stoppedText(section)}${costOf(section.items)}`,
  );
  const cost = totalCost(elsewhere);
  if (elsewhere.length > 0)
    unlisted.push(`Subagents without session: ${countText(elsewhere.length)}${cost === '' ? '' : `, ${cost}`}`);
  if (unlisted.length > 0) texts.push(printableCut(unlisted.join('. '), width));
  texts.push(...keepsFailing.map((line) => styled('warn', line)));
  const isWhole = hidden === '' && !rows.some(({ isCut }) => isCut);
  const first =
    shown.find((row) => !isUnexplained(row)) ?? shown[0] ?? openShown[0] ?? answered.slice(0, answeredLines)[0];
  texts.push(styled('dim', nextLine(first, needsCount(sections), isWhole, width)));
  return { blocks: [linesOf(texts)] };
}

function strong(text: string): Text {
  return styled('strong', text);
}

function sessionsIn(rows: readonly AlikeItems[]): number {
  return rows.reduce((sum, { items }) => sum + items.length, 0);
}

const WITHOUT_CAUSE: ReadonlySet<string> = new Set(['refused', 'asks', 'unknown']);
/** The most rows of a section in each round: of one whose rows have a cause, and of another. */
const ROUNDS = [
  [1, 1],
  [6, 1],
  [6, 2],
  [Infinity, Infinity],
] as const;

/** All rows, if each has a line. Else those with a cause and the first ones of the other sections, then the rest. */
function shownRows(rows: readonly AlikeItems[], form: ScreenForm, room: number): readonly AlikeItems[] {
  if (rows.length <= room) return rows;
  const bySection = Map.groupBy(rows, (row) => (isUnexplained(row) ? 'unknown' : row.section));
  const kinds = [...bySection].toSorted(([a], [b]) => Number(WITHOUT_CAUSE.has(a)) - Number(WITHOUT_CAUSE.has(b)));
  const shown = new Set<AlikeItems>();
  // One line says what is not shown.
  let left = room - 1;
  for (const [most, mostOfOthers] of ROUNDS)
    for (const [kind, same] of kinds) {
      const few = kind === 'unknown' ? Math.min(mostOfOthers, FEW_ROWS) : mostOfOthers;
      for (const row of same.slice(0, WITHOUT_CAUSE.has(kind) ? few : most)) {
        const height = heightOf(row, form);
        if (shown.has(row) || height > left) continue;
        left -= height;
        shown.add(row);
      }
    }
  return rows.filter((row) => shown.has(row));
}

function isUnexplained({ first, section }: AlikeItems): boolean {
  return section === 'failed' && !hasCause(first.run);
}

/** `Not shown: failed check 13–21; asks 24–33`. Empty without rows. */
function hiddenText(rows: readonly AlikeItems[], width: number): string {
  if (rows.length === 0) return '';
  const items = rows.flatMap((row) => row.items);
  const [text = '', shorter = ''] = [FEW_NUMBERS, 1].map((most) =>
    [...Map.groupBy(items, ({ verb }) => verb)].map(([verb, same]) => `${verb} ${numbersText(same, most)}`).join('; '),
  );
  const begin = 'Not shown: ';
  return begin + (begin.length + text.length <= width ? text : shorter);
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
  if (columnsOf(name) <= chars || last === undefined) return cutTo(printable(name), chars);
  const room = chars - columnsOf(last) - 2;
  if (room < 0) return cutTo(printable(last), chars);
  return more.length === 1 ? `…${first.slice(first.length - room)}/${last}` : `${first.slice(0, room)}…/${last}`;
}

function formOf(rows: readonly AlikeItems[], { isPast, untilMs }: ReportFrame, width: number): ScreenForm {
  const longest = (texts: readonly string[]): number => Math.max(0, ...texts.map(columnsOf));
  return {
    ...(isPast === undefined ? {} : { isPast }),
    untilMs,
    width,
    verbChars: longest(rows.map(({ first }) => first.verb)),
    projectChars: Math.min(PROJECT_CHARS, longest(rows.map(({ first }) => first.project))),
    numberChars: longest(rows.map(({ items }) => numbersText(items, FEW_NUMBERS))),
  };
}

/** The columns of a line that its reason and its title have. */
function roomOf({ numberChars, projectChars, verbChars, width }: ScreenForm): number {
  return width - verbChars - projectChars - numberChars - (width < WIDE ? 4 : 11);
}

function heightOf(row: AlikeItems, form: ScreenForm): number {
  return isUnexplained(row) || columnsOf(reasonsOf(row).at(-1) ?? '') <= roomOf(form) ? 1 : 2;
}

const VALUE_CHARS = 16;

/** Quoted values become short, and a type of TypeScript has the name of its module, so that what is said of them has room. */
function shortValues(message: string): string {
  return message
    .replaceAll('\\n', ' ')
    .replaceAll(/\bimport\(["'](?:[^"']*[\\/])?([^"'\\/]+)["']\)/g, '$1')
    .replaceAll(/(?<!\w)(['"`])((?:(?!\1).)*)(?:\1|$)/g, (quoted, quote: string, value: string) =>
      value.length <= VALUE_CHARS ? quoted : `${quote}${value.slice(0, VALUE_CHARS).replace(/\W*$/, '')}…${quote}`,
    );
}

/** The reason in fewer and fewer words: of a failed check the message and the check, the message with its place, the message, its values cut. */
function reasonsOf({ first, items, section }: AlikeItems): readonly string[] {
  const many = items.length > 1 && isNeed({ name: section }) ? `, in ${countOf(items.length, 'session')}` : '';
  const text = printableCut(shortPaths(withoutOpening(first.why.replace(ZONE, ''))), REASON_CHARS);
  const [, message] =
    (section === 'failing' ? /^(.*); \S.* failed(?: in a subagent)?(?:, and .*)?$/.exec(text) : null) ?? [];
  const place = message?.lastIndexOf(' in ') ?? -1;
  const bare = place > 0 ? message?.slice(0, place) : message;
  const texts =
    message === undefined || bare === undefined
      ? [text, ...(section === 'failed' ? [shortValues(text)] : [])]
      : [text, message, bare, shortValues(bare)];
  return texts.map((one) => `${one}${one === '' ? '' : many}`);
}

/** @param more  lines that its whole reason may take below the line */
function rowOf(
  row: AlikeItems,
  form: ScreenForm,
  more = 0,
): { readonly lines: readonly Text[]; readonly isCut: boolean } {
  const { first, items, section } = row;
  const { numberChars, projectChars, verbChars, width } = form;
  const isSame = items.every(({ title }) => title === first.title);
  const title = isSame
    ? `${items.length === 1 || isNeed({ name: section }) ? '' : `${countText(items.length)}× `}${first.title}`
    : '';
  const time = width < WIDE ? '' : `  ${shortTime(first.run, form).padStart(5)}`;
  const numberText = `${time}  ${numbersText(items, FEW_NUMBERS).padStart(numberChars)}`;
  const start = `${first.verb.padEnd(verbChars)} ${padded(shortProject(first.project, projectChars), projectChars)} `;
  const room = roomOf(form);
  const line = (text: string): Text => [
    styled(STYLES[section], start),
    padded(text, room),
    styled('strong', numberText),
  ];
  const reasons = reasonsOf(row);
  const [whole = ''] = reasons;
  if (whole === '') return { lines: [line(cutTo(title, room))], isCut: false };
  const reasonRoom = width - REASON_INDENT.length;
  const why = reasons.find((reason) => columnsOf(reason) <= room);
  const fitting = reasons.find((reason) => columnsOf(reason) <= more * reasonRoom) ?? reasons.at(-1) ?? '';
  // A line that needs the person begins with the reason, any other with its task.
  if (!isNeed({ name: section })) {
    const titleText = cutTo(title, Math.max(Math.ceil(TITLE_SHARE * room), room - columnsOf(whole) - 2));
    return { lines: [line(`${titleText}: ${cutTo(whole, room - columnsOf(titleText) - 2)}`)], isCut: false };
  }
  if (why !== undefined && (why === whole || more === 0 || why === fitting)) {
    const titleRoom = room - columnsOf(why) - JOINT;
    const titleText = titleRoom < Math.min(TITLE_CHARS, columnsOf(title)) ? '' : cutTo(title, titleRoom);
    return { lines: [line([why, titleText].filter(Boolean).join(' – '))], isCut: false };
  }
  if (more === 0) return { lines: [line(cutReason(fitting, room, section))], isCut: true };
  const lines = wrapped(fitting, reasonRoom, more, section);
  return {
    lines: [line(cutTo(title || first.title, room)), ...lines.map((part) => `${REASON_INDENT}${part}`)],
    isCut: columnsOf(fitting) > more * reasonRoom,
  };
}
/** Characters that take two columns of a terminal. One outside the basic plane, such as an emoji, has two code units. */
const WIDE_CHARACTERS =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]/g;

function columnsOf(text: string): number {
  return text.length + (text.match(WIDE_CHARACTERS)?.length ?? 0);
}

function padded(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - columnsOf(text)));
}

function cutTo(text: string, columns: number): string {
  return columnsOf(text) <= columns ? text : `${text.slice(0, charsIn(text, columns - 1)).toWellFormed()}…`;
}

/** The number of characters at the beginning of a text that take no more columns. */
function charsIn(text: string, columns: number): number {
  let chars = Math.max(0, columns);
  const over = (): number => columnsOf(text.slice(0, chars)) - columns;
  while (over() > 0) chars -= Math.ceil(over() / 2);
  return chars;
}

/** What ends a reason whose command may be cut. */
const REASON_END =
  /^(.+?)((?: and \d+ other calls?)? ran| was refused| failed(?: in a subagent)?(?:, in [\d,]+ sessions)?)(?:, and so .*)?$/;

/** Of a command, the end that says what became of it stays; of a question, its end, which asks. */
function cutReason(text: string, columns: number, section: SectionName): string {
  const [, begin = text, end = ''] = REASON_END.exec(text) ?? [];
  if (columnsOf(text) <= columns || section !== 'asks' || /^(?:\p{Ll}|\d)|…$/u.test(text))
    return columnsOf(text) <= columns ? text : `${cutTo(begin, columns - end.length)}${end}`;
  const backwards = Array.from(text).reverse().join('');
  // Where there are words, it begins with a whole one.
  return `…${text
    .slice(-charsIn(backwards, columns - 1))
    .toWellFormed()
    .replace(/^\S{0,15} /, '')}`;
}

/** @param most  lines; the last one is cut */
function wrapped(text: string, columns: number, most: number, section: SectionName): readonly string[] {
  if (most <= 1 || columnsOf(text) <= columns) return [cutReason(text, columns, section)];
  const chars = charsIn(text, columns);
  const blank = text.lastIndexOf(' ', chars);
  const at = blank > chars / 4 ? blank : chars;
  return [text.slice(0, at), ...wrapped(text.slice(at).trimStart(), columns, most - 1, section)];
}

function projectLine({ ofWorked, project, sessions, worked }: ProjectBlock, width: number): string {
  const count =
    worked === sessions ? countOf(worked, 'session') : `${countText(worked)} of ${countOf(sessions, 'session')}`;
  const facts = [count, ...(ofWorked === undefined ? [] : projectFacts(ofWorked))];
  return cutTo(printable(`${shortProject(project, PROJECT_LINE_CHARS)}: ${facts.join(', ')}`), width);
}

function nextLine(first: AlikeItems | undefined, needed: number, isWhole: boolean, width: number): string {
  const number = countText(first?.first.number ?? 1);
  const lists = isWhole
    ? ['coxswain --all lists every session', 'coxswain --all lists every session, --project NAME those of one project']
    : [`All ${countText(needed)}: coxswain --needs-me`].flatMap((all) => [
        all,
        `${all}. Every session: coxswain --all`,
      ]);
  const [list = '', longer = ''] = lists;
  if (first === undefined) return longer.length <= width ? longer : list;
  const begin = needed > 0 ? `Open first: coxswain ${number}` : `coxswain ${number} opens number ${number}`;
  const { project, verb } = first.first;
  const why = reasonsOf(first).at(-1) ?? '';
  const name = shortProject(project, PROJECT_CHARS);
  const whole = `${verb}${/^(?:while|after|before) /.test(why) ? ' ' : ', '}${why}`;
  const abouts = needed > 0 ? [` (${name}: ${whole})`, ` (${name}: ${verb})`, ` (${name})`] : [''];
  const texts = [longer, list].flatMap((end) => abouts.map((about) => `${begin}${about}. ${end}`));
  return texts.find((text) => columnsOf(text) <= width) ?? `${begin}. ${list}`;
}
