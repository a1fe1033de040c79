import { seriousness, timesSeen } from '../../run-view/seen-pattern.ts';
import { callNumber } from '../../base/call-number.ts';
import { inWords } from '../../records/words.ts';
import type { PatternLevel, TrajectoryPattern } from '../../records/trajectory-pattern.ts';
import { countOf, usdText } from '../../base/number-text.ts';
import type { Paint, Style } from '../terminal/paint.ts';
import { printable, printableCut } from '../terminal/printable.ts';
import { shownEvidence } from './report-fold.ts';
import type { RunReport } from './run-report.ts';
import { spanLine } from './run-strip.ts';

/** Maximum number of patterns shown per run. Further patterns are counted. */
const MAX_SHOWN = 8;
const CALL_CHARS = 100;
const LEVEL_STYLE: Readonly<Record<PatternLevel, Style>> = { hint: 'cyan', warn: 'yellow', strong: 'red' };

export interface ReportTextOptions {
  /** Shows the calls that are evidence of a pattern. Default: true. */
  readonly evidence?: boolean;
}

/** Formats the strip of a run with its patterns marked below it, followed by each pattern with its evidence. */
export function patternLines(report: RunReport, paint: Paint, options: ReportTextOptions = {}): readonly string[] {
  const { evidence = true } = options;
  const shownPatterns = mostSerious(report.patterns);
  const leftOutCount = report.patterns.length - shownPatterns.length;
  const { cells, callsPerColumn } = report.strip;
  const scale = callsPerColumn === 1 ? '' : paint('dim', `  each mark is ${callsPerColumn} calls`);
  return [
    '',
    `  ${cells.replaceAll(/[×▪]+/g, (failed) => paint('red', failed))}${scale}`,
    ...shownPatterns.map((pattern, index) => markLine(pattern, { letter: letterOf(index), report, paint })),
    ...shownPatterns.flatMap((pattern, index) =>
      detailLines(pattern, { letter: letterOf(index), report, paint, evidence }),
    ),
    ...(leftOutCount === 0 ? [] : ['', `  and ${countOf(leftOutCount, 'more pattern')}; --json lists all`]),
  ];
}

/** Returns the `MAX_SHOWN` most severe patterns, in their order in the run. */
function mostSerious(patterns: readonly TrajectoryPattern[]): readonly TrajectoryPattern[] {
  if (patterns.length <= MAX_SHOWN) return patterns;
  const chosen = new Set([...patterns].sort((a, b) => seriousness(b) - seriousness(a)).slice(0, MAX_SHOWN));
  return patterns.filter((pattern) => chosen.has(pattern));
}

function letterOf(index: number): string {
  return String.fromCodePoint(65 + index);
}

interface PatternContext {
  readonly letter: string;
  readonly report: RunReport;
  readonly paint: Paint;
}

interface DetailContext extends PatternContext {
  readonly evidence: boolean;
}

function markLine(pattern: TrajectoryPattern, { letter, report, paint }: PatternContext): string {
  const { clearedAt, firstSeen, flaggedAt, evidence, level } = pattern;
  const last = Math.max(firstSeen, flaggedAt ?? 0, evidence.at(-1) ?? 0);
  // A recorded pattern without an end was last seen at most a few calls before the end of the run.
  const to = report.patternBasis === 'recorded' && clearedAt === undefined ? Math.max(last, report.calls - 1) : last;
  const marks = spanLine({ from: firstSeen, to, flaggedAt }, report.strip);
  return `  ${paint(LEVEL_STYLE[level], marks)} ${letter}`;
}

function detailLines(pattern: TrajectoryPattern, context: DetailContext): readonly string[] {
  const { letter, report, paint } = context;
  const { kind, stuck, level, tool, firstSeen, flaggedAt, clearedAt } = pattern;
  const head = [
    `${letter} ${paint('bold', printable(inWords('pattern', kind)))}`,
    paint(LEVEL_STYLE[level], `${stuck ? 'stuck, ' : ''}${inWords('level', level)}`),
    ...(tool === undefined ? [] : [printableCut(tool, 60)]),
  ];
  const cost = report.patternCosts.get(pattern.identity);
  const facts = [
    flaggedAt === null
      ? `from call ${callNumber(firstSeen)}, never more than a hint`
      : `from call ${callNumber(firstSeen)}, noticed at call ${callNumber(flaggedAt)} of ${report.calls}`,
    `seen ${timesSeen(pattern, report.patternBasis)}`,
    clearedAt === undefined ? 'not over at the end' : `over by call ${callNumber(clearedAt)}`,
    ...(cost === undefined ? [] : [`${usdText(cost)} while it lasted`]),
  ];
  const lines = [`  ${head.join('  ')}`, `    ${facts.join(', ')}`];
  return context.evidence ? ['', ...lines, ...evidenceLines(pattern, context)] : lines;
}

function evidenceLines(pattern: TrajectoryPattern, { report, paint }: PatternContext): readonly string[] {
  const width = String(report.calls).length + 1;
  const indent = ' '.repeat(width + 6);
  const lines: string[] = [];
  for (const index of shownEvidence(pattern)) {
    const preview = report.previews.get(index);
    if (preview === undefined) continue;
    const mark = index === pattern.flaggedAt ? paint('yellow', '▲') : ' ';
    const number = paint('dim', `#${callNumber(index)}`.padStart(width));
    lines.push(`   ${mark} ${number} ${printableCut(preview.call, CALL_CHARS)}`);
    const { error } = preview;
    if (error !== undefined) lines.push(`${indent}${paint('red', '×')} ${printableCut(error, CALL_CHARS)}`);
  }
  return lines;
}
