import type { PatternLevel, TrajectoryPattern } from '../../records/trajectory-pattern.ts';
import { countOf } from '../terminal/number-text.ts';
import type { Paint, Style } from '../terminal/paint.ts';
import { printable, printableCut } from '../terminal/printable.ts';
import { shownEvidence } from './report-fold.ts';
import type { RunReport } from './run-report.ts';
import { spanLine } from './run-strip.ts';

/** Patterns of a run shown in full; of more only the number. */
const MAX_SHOWN = 8;
const CALL_CHARS = 100;
const LEVEL_STYLE: Readonly<Record<PatternLevel, Style>> = { hint: 'cyan', warn: 'yellow', strong: 'red' };
const LEVEL_RANK: Readonly<Record<PatternLevel, number>> = { hint: 0, warn: 1, strong: 2 };

/** How much of a report is written. */
export interface ReportTextOptions {
  /** Whether the calls that show a pattern are named; default true. */
  readonly evidence?: boolean;
}

/** The strip of a run with its patterns marked below, then each pattern with its evidence. */
export function patternLines(report: RunReport, paint: Paint, options: ReportTextOptions = {}): readonly string[] {
  const { evidence = true } = options;
  const shown = mostSerious(report.patterns);
  const left = report.patterns.length - shown.length;
  const { cells, callsPerColumn } = report.strip;
  const scale = callsPerColumn === 1 ? '' : paint('dim', `  each mark is ${callsPerColumn} calls`);
  return [
    '',
    `  ${cells.replaceAll(/[×▪]+/g, (failed) => paint('red', failed))}${scale}`,
    ...shown.map((pattern, index) => markLine(pattern, { letter: letterOf(index), report, paint })),
    ...shown.flatMap((pattern, index) => detailLines(pattern, { letter: letterOf(index), report, paint, evidence })),
    ...(left === 0 ? [] : ['', `  and ${countOf(left, 'more pattern')}; --json lists all`]),
  ];
}

/** At most `MAX_SHOWN`, the most serious ones, in the order of the run. */
function mostSerious(patterns: readonly TrajectoryPattern[]): readonly TrajectoryPattern[] {
  if (patterns.length <= MAX_SHOWN) return patterns;
  const weight = ({ stuck, level }: TrajectoryPattern): number => (stuck ? 3 : 0) + LEVEL_RANK[level];
  const chosen = new Set([...patterns].sort((a, b) => weight(b) - weight(a)).slice(0, MAX_SHOWN));
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
  const { firstSeen, flaggedAt, evidence, level } = pattern;
  const to = Math.max(firstSeen, flaggedAt ?? 0, evidence.at(-1) ?? 0);
  const marks = spanLine({ from: firstSeen, to, flaggedAt }, report.strip);
  return `  ${paint(LEVEL_STYLE[level], marks)} ${letter}`;
}

function detailLines(pattern: TrajectoryPattern, context: DetailContext): readonly string[] {
  const { letter, report, paint } = context;
  const { kind, stuck, level, tool, firstSeen, flaggedAt, occurrences, confidence, clearedAt } = pattern;
  const head = [
    `${letter} ${paint('bold', printable(kind))}`,
    paint(LEVEL_STYLE[level], level),
    ...(stuck ? [paint('red', 'stuck')] : []),
    ...(tool === undefined ? [] : [`tool ${printableCut(tool, 60)}`]),
  ];
  const facts = [
    flaggedAt === null
      ? `first seen at call ${firstSeen}, never beyond a hint`
      : `first seen at call ${firstSeen} → flagged at call ${flaggedAt} (of ${report.calls})`,
    `seen ${countOf(occurrences, 'time')}`,
    `confidence ${confidence.toFixed(2)}`,
    clearedAt === undefined ? 'not left until the end' : `left at call ${clearedAt}`,
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
    const number = paint('dim', `#${index}`.padStart(width));
    lines.push(`   ${mark} ${number} ${printableCut(preview.call, CALL_CHARS)}`);
    const { error } = preview;
    if (error !== undefined) lines.push(`${indent}${paint('red', '×')} ${printableCut(error, CALL_CHARS)}`);
  }
  return lines;
}
