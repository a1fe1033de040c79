import { countOf, countText, durationText, usdText } from '../../../core/base/number-text.ts';
import { printableCut, shortPaths } from '../../../core/base/printable.ts';
import type { InstructionLine } from '../../../core/facts/instruction-lines.ts';
import type { Lesson, Lessons, OtherCause } from '../../../core/facts/lessons.ts';
import { linesOf, styled, type Document, type ListItem } from '../../document/document.ts';
import { localTimeText } from '../../terminal/time-text.ts';
import type { NightReport, ReportFrame } from './night-report.ts';

const SHOWN = 15;
const SHOWN_OTHERS = 5;

/** Returns what keeps failing as a document: what still happens and costs most first. */
export function lessonsDocument(report: NightReport, frame: ReportFrame): Document {
  const { checks, lessons, others } = report.keepsFailing;
  const shown = lessons.slice(0, SHOWN);
  const apart = `${countOf(checks, 'failed test, lint or compile call')}, apart: they fail while the work is not done`;
  if (lessons.length === 0 && others.length === 0)
    return { blocks: [{ type: 'facts', facts: [checks === 0 ? noneText(frame) : apart] }] };
  const repeated = others.filter(({ sessions }) => sessions >= 2).slice(0, SHOWN_OTHERS);
  const single =
    others.reduce((sum, { times }) => sum + times, 0) - repeated.reduce((sum, { times }) => sum + times, 0);
  const rest = [
    ...(lessons.length > shown.length
      ? [`and ${countOf(lessons.length - shown.length, 'more cause')}; --json lists all`]
      : []),
    ...(single > 0 ? [`${countOf(single, 'other failed call')}, most of a cause in one session only`] : []),
    ...(checks > 0 ? [apart] : []),
  ];
  const title = 'What keeps failing';
  return {
    title,
    blocks: [
      ...(shown.length === 0
        ? [linesOf(['Nothing keeps failing: no call failed in two sessions and in most of those that ran it.'])]
        : [{ type: 'list' as const, isNumbered: true, items: shown.map((lesson) => lessonItem(lesson, report)) }]),
      ...(repeated.length === 0
        ? []
        : [
            linesOf([styled('strong', 'The same cause, but another call each time')]),
            { type: 'list' as const, isNumbered: false, items: repeated.map((other) => otherItem(other, report)) },
          ]),
      ...(rest.length === 0 ? [] : [{ type: 'facts' as const, facts: rest }]),
    ],
  };
}

export function lessonJson(report: NightReport): readonly object[] {
  return report.keepsFailing.lessons.map((lesson) => ({
    ...lesson,
    examples: lesson.examples.map((example) => ({ ...example, command: report.commandOf(example) })),
  }));
}

/** @param width  where it does not fit, the place and the cost are left out, then the failure has a line of its own */
export function lessonsSentence({ lessons }: Lessons, width: number = Infinity): readonly string[] {
  const open = lessons.filter(({ stillHappens }) => stillHappens);
  const [first] = open;
  if (first === undefined) return [];
  const calls = open.reduce((sum, lesson) => sum + lesson.calls, 0);
  const ms = open.reduce((sum, lesson) => sum + lesson.ms, 0);
  const time = ms >= 60_000 ? ` and ${durationText(ms)}` : '';
  const { instruction } = first;
  const isNamed = instruction !== undefined && instruction !== null;
  const place = isNamed ? `; ${placeOf(instruction)} names it` : '';
  const cost = `; ${countOf(calls, 'call')}${time} lost to ${countOf(open.length, 'cause')}`;
  const begin = `Same failure in ${countOf(first.sessions, 'session')}: `;
  const end = '. List: coxswain failures';
  const name = printableCut(shortPaths(inProject(first.name, first)), Math.min(40, width - begin.length - end.length));
  const cause = causeOf(first);
  const texts = [`${place}${cost}`, cost, ''].map((more) => `${begin}${name}: ${cause}${more}${end}`);
  const text = texts.find((one) => one.length <= width);
  return text === undefined
    ? [`${begin}${name}${end}`.replace('….', '…'), printableCut(`         ${cause}`, width)]
    : [text];
}

/** The cause without what only the shell adds, and without the program that the name of the call begins with. */
function causeOf({ cause, name }: Lesson): string {
  const [program = ''] = name.split(' ');
  const text = cause
    .replace(/^(?:<path>|\w*sh|\(eval\)):(?: ?line)? ?<n>: |^\w*sh: /, '')
    .replace(/(?<=[a-z])At line:<n>.*/, '');
  return printableCut(text.startsWith(`${program}: `) ? text.slice(program.length + 2) : text, 120);
}

function noneText({ isPast, sinceMs, untilMs }: ReportFrame): string {
  const end = isPast === true ? [`before ${localTimeText(untilMs)}`] : [];
  if (sinceMs === 0) return `${['No failed call', ...end].join(' ')}.`;
  const time = [`since ${localTimeText(sinceMs)}`, ...end].join(' and ');
  return `No failed call ${time}; --since all looks further back.`;
}

function lessonItem(lesson: Lesson, report: NightReport): ListItem {
  const { causes, examples } = lesson;
  const others = causes < 2 ? '' : `, and ${countOf(causes - 1, 'other error')}`;
  const [name, shown] = [inProject(lesson.name, lesson), inProject(lesson.shown, lesson)];
  const suchAs = name === shown ? '' : `, such as ${printableCut(shown, 80)}`;
  return {
    head: styled('strong', `${printableCut(name, 80)}${suchAs}: ${causeOf(lesson)}${others}`),
    lines: [
      costText(lesson),
      [endText(lesson)],
      ...instructionTexts(lesson),
      ...examples.map((example) => styled('code', report.commandOf(example))),
    ],
  };
}

/** Paths below the folder of the project, without it. */
function inProject(text: string, { project }: Pick<Lesson, 'project'>): string {
  const home = project.replace(/^(?:\/home|\/Users)\/[^/]+/, '~');
  return project.length < 2 ? text : text.replaceAll(`${project}/`, '').replaceAll(`${home}/`, '');
}

function otherItem(
  { calls, cause, examples, project, sessions, times, tool }: OtherCause,
  report: NightReport,
): ListItem {
  const place = project === '' ? '' : `, ${printableCut(project, 100)}`;
  return {
    head: `${printableCut(tool, 40)}: ${printableCut(cause, 120)}`,
    lines: [
      `${countOf(times, 'time')} in ${countOf(sessions, 'session')}, cost ${countOf(calls, 'call')}${place}`,
      ...examples.map((example) => styled('code', report.commandOf(example))),
    ],
  };
}

function costText({ calls, costUsd, hidden, ms, project, sessions, times }: Lesson): string {
  const facts = [
    `${countOf(times, 'time')} in ${countOf(sessions, 'session')}`,
    ...(hidden > 0 ? [`${countText(hidden)} of them hidden by a pipe or the end of the command`] : []),
    `cost ${countOf(calls, 'call')}`,
    ...(ms >= 1000 ? [durationText(ms)] : []),
    ...(costUsd >= 0.005 ? [usdText(costUsd)] : []),
    ...(project === '' ? [] : [printableCut(project, 100)]),
  ];
  return facts.join(', ');
}

/** Nothing for sessions that show only parts of instruction files. */
function instructionTexts({ instruction }: Lesson): readonly string[] {
  if (instruction === undefined) return [];
  if (instruction === null) return ['no instruction file names it'];
  return [`${placeOf(instruction)} names it: ${printableCut(instruction.text, 100)}`];
}

function placeOf({ line, path }: InstructionLine): string {
  return `${printableCut(path.split('/').slice(-3).join('/'), 60)}:${countText(line).replaceAll(',', '')}`;
}

function similarText({ similar }: NonNullable<Lesson['worked']>): string {
  return similar === 0 ? '' : `, a similar call in ${countText(similar)} more`;
}

function endText(lesson: Lesson): string {
  const { lastAtMs, recovered, stillHappens, worked } = lesson;
  const then =
    worked === undefined
      ? []
      : [
          `then worked: ${printableCut(inProject(worked.shown, lesson), 80)} (in ${countOf(worked.sessions, 'session')}${similarText(worked)})`,
        ];
  const last = lastAtMs > 0 ? [`last ${localTimeText(lastAtMs)}`] : [];
  const facts = [...then, ...last].join(', ');
  const how = recovered ? 'failed and then worked' : stillHappens ? 'failed' : 'worked';
  const end = `it ${how} in the last session that used it`;
  return facts === '' ? end : `${facts}; ${end}`;
}
