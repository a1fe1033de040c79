import type { QuartilesReport, ShareReport, SweepReport } from './backtest-report.ts';
import { htmlText, type Html } from './html-page.ts';

const STRIP_WIDTH = 120;
const STRIP_HEIGHT = 22;
const BAR_WIDTH = 90;
const BAR_HEIGHT = 10;

/** A share as a bar with its interval. The figures stand beside it, so it is hidden from readers that cannot see it. */
export function shareBar({ high, low, share }: ShareReport): Html {
  if (share === null || low === null || high === null) return '';
  const middle = BAR_HEIGHT / 2;
  return `<svg width="${BAR_WIDTH}" height="${BAR_HEIGHT}" viewBox="0 0 ${BAR_WIDTH} ${BAR_HEIGHT}" aria-hidden="true"><rect class="soft" width="${BAR_WIDTH}" height="${BAR_HEIGHT}"/><rect class="mark" y="2" width="${at(share, BAR_WIDTH)}" height="${BAR_HEIGHT - 4}"/><path class="axis" d="M${at(low, BAR_WIDTH)} ${middle}H${at(high, BAR_WIDTH)}"/></svg>`;
}

/** Where in the run it first fired, in tenths of the calls: the beginning of the run at the left. */
export function positionStrip({ bins, median, q1, q3 }: QuartilesReport): Html {
  const most = Math.max(...bins, 0);
  if (most === 0 || median === null || q1 === null || q3 === null) return '';
  const width = STRIP_WIDTH / bins.length;
  const bars = bins.map((count, index) => {
    const height = Math.round((STRIP_HEIGHT * count) / most);
    // Bins count what was left of the run, so the last one is its beginning.
    const left = (bins.length - 1 - index) * width;
    return count === 0
      ? ''
      : `<rect class="mark" x="${left}" y="${STRIP_HEIGHT - height}" width="${width - 1}" height="${height}"/>`;
  });
  const label = `median ${percent(median)} of the calls left, quartiles ${percent(q1)} and ${percent(q3)}`;
  return `<svg role="img" aria-label="${htmlText(label)}" width="${STRIP_WIDTH}" height="${STRIP_HEIGHT}" viewBox="0 0 ${STRIP_WIDTH} ${STRIP_HEIGHT}"><rect class="soft" width="${STRIP_WIDTH}" height="${STRIP_HEIGHT}"/>${bars.join('')}</svg><span class="dim">${percent(median)} left</span>`;
}

const PLOT = 320;
const MARGIN = 44;

/** Precision over recall, a point for each value of the sweep, with both intervals. */
export function sweepPlot({ field, points, signal }: SweepReport): Html {
  const known = points.filter(({ precision, recall }) => precision.share !== null && recall.share !== null);
  if (known.length === 0) return '<p>No value has both a precision and a recall, so there is nothing to plot.</p>\n';
  const right = endOf(known.map(({ recall }) => recall.high ?? 1));
  const top = endOf(known.map(({ precision }) => precision.high ?? 1));
  const x = (share: number | null): number => MARGIN + at((share ?? 0) / right, PLOT);
  const y = (share: number | null): number => MARGIN / 2 + at(1 - (share ?? 0) / top, PLOT);
  const grid = [0, 0.25, 0.5, 0.75, 1].map(
    (part) =>
      `<path class="axis" d="M${x(part * right)} ${y(0)}V${y(top)}M${x(0)} ${y(part * top)}H${x(right)}"/><text x="${x(part * right)}" y="${y(0) + 16}" text-anchor="middle">${percent(part * right)}</text><text x="${x(0) - 6}" y="${y(part * top) + 4}" text-anchor="end">${percent(part * top)}</text>`,
  );
  const line = known.map(({ precision, recall }) => `${x(recall.share)},${y(precision.share)}`).join(' ');
  const marks = known.map(
    ({ precision, recall, value }) =>
      `<path class="spread" d="M${x(recall.low)} ${y(precision.share)}H${x(recall.high)}M${x(recall.share)} ${y(precision.low)}V${y(precision.high)}"/><circle class="mark" cx="${x(recall.share)}" cy="${y(precision.share)}" r="4"/><text class="name" x="${x(recall.share) + 7}" y="${y(precision.share) - 6}">${htmlText(String(value))}</text>`,
  );
  const size = PLOT + 2 * MARGIN;
  const told = known.map(
    ({ precision, recall, value }) =>
      `${value}: precision ${percent(precision.share)}, recall ${percent(recall.share)}`,
  );
  const label = `Precision over recall of ${signal.name} by ${field}. ${told.join('; ')}`;
  // The table below it says the same in full, so a label that is cut loses nothing.
  return `<svg role="img" aria-label="${htmlText(label)}" width="${size}" height="${size}" viewBox="0 0 ${size} ${size}">${grid.join('')}<polyline class="stroke" points="${line}"/>${marks.join('')}<text x="${x(right / 2)}" y="${y(0) + 34}" text-anchor="middle">recall</text><text x="${x(0)}" y="${y(top) - 8}">precision</text></svg>\n`;
}

/** Where an axis from 0 ends, so that everything is on it and there is room to tell points apart. */
function endOf(shares: readonly number[]): number {
  const most = Math.max(...shares);
  return [0.2, 0.4, 0.6, 0.8].find((end) => end >= most) ?? 1;
}

/** A share in per cent; a dash where it is not known. */
export function percent(share: number | null): string {
  return share === null ? '–' : `${Math.round(100 * share)} %`;
}

function at(share: number, width: number): number {
  return Math.round(share * width * 10) / 10;
}
