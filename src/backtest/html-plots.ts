import { percentText } from '../base/number-text.ts';
import { html, type Html } from '../html/html.ts';
import { dim } from '../html/page.ts';
import type { QuartilesReport, ShareReport, StopPolicyReport, SweepReport } from './backtest-report.ts';

const STRIP_WIDTH = 120;
const STRIP_HEIGHT = 22;
const BAR_WIDTH = 90;
const BAR_HEIGHT = 10;

/** Draws a share as a bar with its interval. Screen readers skip the bar and read the figures next to it. */
export function shareBar({ high, low, share }: ShareReport): Html | undefined {
  if (share === null || low === null || high === null) return undefined;
  const middle = BAR_HEIGHT / 2;
  return html`<svg
    width="${BAR_WIDTH}"
    height="${BAR_HEIGHT}"
    viewBox="0 0 ${BAR_WIDTH} ${BAR_HEIGHT}"
    aria-hidden="true"
  >
    <rect class="soft" width="${BAR_WIDTH}" height="${BAR_HEIGHT}" />
    <rect class="mark" y="2" width="${coordinate(share, BAR_WIDTH)}" height="${BAR_HEIGHT - 4}" />
    <path class="range" d="M${coordinate(low, BAR_WIDTH)} ${middle}H${coordinate(high, BAR_WIDTH)}" />
  </svg>`;
}

/** Draws the first firings per tenth of the run. The start of the run is on the left. */
export function positionStrip({ bins, median, q1, q3 }: QuartilesReport): Html | undefined {
  const highestBin = Math.max(...bins, 0);
  if (highestBin === 0 || median === null || q1 === null || q3 === null) return undefined;
  const width = STRIP_WIDTH / bins.length;
  const bars = bins.map((count, index) => {
    const height = Math.round((STRIP_HEIGHT * count) / highestBin);
    // Bins count the remaining part of the run, so the last bin is the start of the run.
    const left = (bins.length - 1 - index) * width;
    return count === 0
      ? undefined
      : html`<rect class="mark" x="${left}" y="${STRIP_HEIGHT - height}" width="${width - 1}" height="${height}" />`;
  });
  const label = `median ${percentText(median)} of the calls left, quartiles ${percentText(q1)} and ${percentText(q3)}`;
  return html`<svg
      role="img"
      aria-label="${label}"
      width="${STRIP_WIDTH}"
      height="${STRIP_HEIGHT}"
      viewBox="0 0 ${STRIP_WIDTH} ${STRIP_HEIGHT}"
    >
      <rect class="soft" width="${STRIP_WIDTH}" height="${STRIP_HEIGHT}" />
      ${bars}</svg
    >${dim(`${percentText(median)} left`)}`;
}

const PLOT_WIDTH = 560;
const PLOT_HEIGHT = 300;
const LEFT = 52;
const TOP = 44;
const RIGHT = 32;
const BOTTOM = 44;
/** Size of a point's name in the plot, for detecting overlaps. */
const NAME_WIDTH = 22;
const NAME_HEIGHT = 12;
/** Candidate positions for a point's name, in order of preference. */
const NAME_PLACES: readonly (readonly [number, number])[] = [
  [7, -6],
  [7, 14],
  [-16, -6],
  [-16, 14],
  [7, -18],
  [7, 26],
];

/** A share with its interval. `ShareReport` and `SavedReport` have these fields. */
type Interval = Pick<ShareReport, 'share' | 'low' | 'high'>;

interface CurvePoint {
  readonly name: string | number;
  readonly x: Interval;
  readonly y: Interval;
}

/** The axes and points of a curve. */
interface CurveLabels {
  readonly title: string;
  readonly x: string;
  readonly y: string;
}

/** Draws precision over recall, with one point per value of the sweep. */
export function sweepPlot({ field, points, signal }: SweepReport): Html {
  return curvePlot(
    points.map(({ precision, recall, value }) => ({ name: value, x: recall, y: precision })),
    { title: `Precision over recall of ${signal.name} by ${field}`, x: 'recall', y: 'precision' },
  );
}

/** Draws the calls saved over the successes lost, with one point per number of calls after the warning. */
export function stopPlot({ byAfter }: StopPolicyReport): Html {
  return curvePlot(
    byAfter.map(({ after, calls, lostSuccesses }) => ({ name: after, x: lostSuccesses, y: calls })),
    { title: 'Calls saved over successes lost, by calls after the warning', x: 'successes lost', y: 'calls saved' },
  );
}

/** Draws points with intervals on both axes and joins them with a line. The axes begin at the lowest points. */
function curvePlot(points: readonly CurvePoint[], labels: CurveLabels): Html {
  const knownPoints = points.filter(({ x, y }) => x.share !== null && y.share !== null);
  if (knownPoints.length === 0)
    return html`<p>No point has both a ${labels.y} and a ${labels.x}, so there is nothing to plot.</p> `;
  const xAxis = axisOf(knownPoints.map(({ x }) => x));
  const upwards = axisOf(knownPoints.map(({ y }) => y));
  const x = (share: number | null): number => LEFT + coordinate(partOf(share ?? 0, xAxis), PLOT_WIDTH);
  const y = (share: number | null): number => TOP + coordinate(1 - partOf(share ?? 0, upwards), PLOT_HEIGHT);
  const [left, right, bottom, top] = [x(xAxis.from), x(xAxis.to), y(upwards.from), y(upwards.to)];
  const grid = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const [one, other] = [shareAt(part, xAxis), shareAt(part, upwards)];
    return html`<path class="axis" d="M${x(one)} ${bottom}V${top}M${left} ${y(other)}H${right}" /><text
        x="${x(one)}"
        y="${bottom + 16}"
        text-anchor="middle"
        >${percentText(one)}</text
      ><text x="${left - 6}" y="${y(other) + 4}" text-anchor="end">${percentText(other)}</text>`;
  });
  const line = knownPoints.map((point) => `${x(point.x.share)},${y(point.y.share)}`).join(' ');
  const names = namePlaces(knownPoints.map((point) => [x(point.x.share), y(point.y.share)]));
  const marks = knownPoints.map((point, index) => {
    const [nameX, nameY] = names[index] ?? [0, 0];
    return html`<path
        class="spread"
        d="M${x(point.x.low)} ${y(point.y.share)}H${x(point.x.high)}M${x(point.x.share)} ${y(point.y.low)}V${y(point.y.high)}"
      /><circle class="mark" cx="${x(point.x.share)}" cy="${y(point.y.share)}" r="4" /><text
        class="name"
        x="${nameX}"
        y="${nameY}"
        >${point.name}</text
      >`;
  });
  const [width, height] = [LEFT + PLOT_WIDTH + RIGHT, TOP + PLOT_HEIGHT + BOTTOM];
  const description = knownPoints.map(
    (point) => `${point.name}: ${labels.y} ${percentText(point.y.share)}, ${labels.x} ${percentText(point.x.share)}`,
  );
  const label = `${labels.title}. ${description.join('; ')}`;
  // The table below the plot has the full text, so a truncated label loses nothing.
  return html`<div class="wide">
    <svg role="img" aria-label="${label}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
      ${grid}
      <polyline class="stroke" points="${line}" />
      ${marks}
      <text x="${coordinate((left + right) / 2, 1)}" y="${bottom + 34}" text-anchor="middle">${labels.x}</text>
      <text x="${left}" y="${top - 26}">${labels.y}</text>
    </svg>
  </div> `;
}

interface Axis {
  readonly from: number;
  readonly to: number;
}

/** Returns the shortest axis, in steps of one fifth, that contains every share and interval. */
function axisOf(shares: readonly Interval[]): Axis {
  const lowest = Math.min(...shares.map(({ low }) => low ?? 0));
  const highest = Math.max(...shares.map(({ high }) => high ?? 1));
  return {
    from: [0.8, 0.6, 0.4, 0.2].find((end) => end <= lowest) ?? 0,
    to: [0.05, 0.1, 0.2, 0.4, 0.6, 0.8].find((end) => end >= highest) ?? 1,
  };
}

function partOf(share: number, { from, to }: Axis): number {
  return (share - from) / (to - from);
}

function shareAt(part: number, { from, to }: Axis): number {
  return from + part * (to - from);
}

/** Chooses a free position for the name of each point. If all positions are occupied, it uses the first one. */
function namePlaces(points: readonly (readonly [number, number])[]): readonly (readonly [number, number])[] {
  const positions: (readonly [number, number])[] = [];
  for (const [x, y] of points) {
    const places = NAME_PLACES.map(([right, down]) => [coordinate(x + right, 1), coordinate(y + down, 1)] as const);
    const isFree = ([left, base]: readonly [number, number]): boolean =>
      positions.every((other) => Math.abs(other[0] - left) >= NAME_WIDTH || Math.abs(other[1] - base) >= NAME_HEIGHT);
    positions.push(places.find(isFree) ?? places[0] ?? [x, y]);
  }
  return positions;
}

function coordinate(share: number, width: number): number {
  return Math.round(share * width * 10) / 10;
}
