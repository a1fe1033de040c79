import type { ShareReport, SweepPointReport, SweepReport } from '../../../backtest/backtest-report.ts';
import { columnsText } from '../../terminal/columns-text.ts';
import { countText } from '../../../base/number-text.ts';
import type { Paint } from '../../terminal/paint.ts';
import { printableCut } from '../../terminal/printable.ts';

const PLOT_COLUMNS = 51;
const PLOT_ROWS = 11;
const MARKS = '123456789abcdefghijklmnopqrstuvw';

/** Formats the points of a sweep as a table, and as a plot of precision over recall. */
export function sweepText({ field, signal, part, points }: SweepReport, paint: Paint): string {
  const name = signal.by === 'advice' ? 'any advice' : `${signal.by} ${printableCut(signal.name, 80)}`;
  const where = part === 'all' ? '' : `, on ${part}`;
  const head = paint('bold', `${field}: ${name}${where}`);
  const rows = [
    ['', 'value', 'times', 'runs', 'precision', 'recall', 'false rate', 'F1', ''],
    ...points.map((point, index) => [
      MARKS[index] ?? '',
      String(point.value),
      countText(point.fired),
      countText(point.runs),
      shareCell(point.precision),
      shareCell(point.recall),
      shareCell(point.falseRate),
      point.f1 === null ? '–' : point.f1.toFixed(3),
      point.raised === undefined ? '' : `${point.raised.path} raised to ${point.raised.value}`,
    ]),
  ];
  const [names = '', ...lines] = columnsText(rows, [8]);
  return `${[head, paint('dim', names), ...lines, '', ...plotLines(points, paint)].join('\n')}\n`;
}

function shareCell({ share, low, high }: ShareReport): string {
  if (share === null || low === null || high === null) return '–';
  const [middle, from, to] = [share, low, high].map((one) => (100 * one).toFixed(1));
  return `${middle ?? ''} % (${from ?? ''}–${to ?? ''})`;
}

/**
 * Plots precision upwards and recall to the right. The axes cover the range of the points. `*` marks several points in one cell.
 */
function plotLines(points: readonly SweepPointReport[], paint: Paint): readonly string[] {
  const knownPoints = points.flatMap(({ precision, recall }, index) =>
    precision.share === null || recall.share === null
      ? []
      : [{ mark: MARKS[index] ?? '*', x: recall.share, y: precision.share }],
  );
  if (knownPoints.length === 0) return [paint('dim', 'no plot: precision or recall is unknown')];
  const xs = rangeOf(knownPoints.map(({ x }) => x));
  const ys = rangeOf(knownPoints.map(({ y }) => y));
  const rows = Array.from({ length: PLOT_ROWS }, () => Array.from({ length: PLOT_COLUMNS }, () => ' '));
  for (const { mark, x, y } of knownPoints) {
    const row = rows[Math.round((1 - (y - ys.from) / (ys.to - ys.from)) * (PLOT_ROWS - 1))];
    const column = Math.round(((x - xs.from) / (xs.to - xs.from)) * (PLOT_COLUMNS - 1));
    if (row !== undefined) row[column] = row[column] === ' ' ? mark : '*';
  }
  const label = (share: number): string => `${(100 * share).toFixed(1)} %`.padStart(8);
  const lines = rows.map((row, at) => {
    const side = at === 0 ? label(ys.to) : at === PLOT_ROWS - 1 ? label(ys.from) : ' '.repeat(8);
    return `${paint('dim', `${side} │`)}${row.join('')}`.trimEnd();
  });
  const foot = `${label(xs.from).trim()}${`${label(xs.to).trim()} recall`.padStart(PLOT_COLUMNS - label(xs.from).trim().length + 7)}`;
  return [
    paint('dim', 'precision'),
    ...lines,
    paint('dim', `${' '.repeat(9)}└${'─'.repeat(PLOT_COLUMNS)}`),
    paint('dim', `${' '.repeat(10)}${foot}`),
  ];
}

/** Returns the range of the values with a margin at both ends, limited to 0 to 1. */
function rangeOf(values: readonly number[]): { readonly from: number; readonly to: number } {
  const low = Math.min(...values);
  const high = Math.max(...values);
  const room = Math.max(0.005, (high - low) * 0.1);
  return { from: Math.max(0, low - room), to: Math.min(1, high + room) };
}
