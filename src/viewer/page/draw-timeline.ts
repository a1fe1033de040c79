import type { AdviceMark, Overview } from '../server/api-shapes.ts';
import { columnsOf, packPatterns, type SeqWindow } from './timeline-layout.ts';

/** Where each lane lies, in CSS pixels from the top of its picture. */
export const LANES = {
  turns: { top: 2, height: 7, name: 'Turns' },
  calls: { top: 13, height: 26, name: 'Calls' },
  errors: { top: 43, height: 9, name: 'Errors' },
  patterns: { top: 57, height: 21, name: 'Patterns' },
  advice: { top: 82, height: 14, name: 'Advice' },
  tokens: { top: 100, height: 16, name: 'Tokens' },
} as const;
export const LANES_HEIGHT = 118;
export const MINIMAP_HEIGHT = 24;
const PATTERN_ROWS = 3;
/** Of a short run a column could be as wide as a hand; a mark is not. */
const MAX_MARK_PX = 12;

/** What a picture is drawn with. */
export interface Canvas {
  readonly context: CanvasRenderingContext2D;
  readonly widthPx: number;
  /** The value of a colour of the style sheet. */
  readonly colour: (name: string) => string;
}

/** What the reader sees and has chosen, in `seq`s. */
export interface Places {
  readonly visible: SeqWindow;
  readonly selected: number | undefined;
  /** What people said of calls, by `seq`. */
  readonly labels: ReadonlyMap<number, string>;
}

/** The lanes of a window of the run. */
export function drawLanes(canvas: Canvas, overview: Overview, window: SeqWindow, places: Places): void {
  const { context, widthPx, colour } = canvas;
  context.clearRect(0, 0, widthPx, LANES_HEIGHT);
  const xOf = (seq: number): number => ((seq - window.from) * widthPx) / (window.to - window.from);
  context.fillStyle = colour('--sunken');
  const [from, to] = [xOf(places.visible.from), xOf(places.visible.to)];
  context.fillRect(from, 0, Math.max(2, to - from), LANES_HEIGHT);
  context.fillStyle = colour('--line');
  for (const { top, height } of Object.values(LANES)) context.fillRect(0, top + height, widthPx, 1);

  const columns = columnsOf(overview, window, { widthPx, minPx: 3 });
  const most = Math.max(1, ...columns.map(({ calls }) => calls));
  for (const { x, width, turns, errors, kinds, calls } of columns) {
    const wide = markWidth(width, overview);
    if (turns > 0) {
      context.fillStyle = colour('--line-strong');
      context.fillRect(x, LANES.turns.top, Math.min(wide, 2), LANES.turns.height);
    }
    const scale = Math.max(4, (LANES.calls.height * calls) / most) / Math.max(1, calls);
    let bottom = LANES.calls.top + LANES.calls.height;
    for (const [kind, count] of kinds) {
      const high = count * scale;
      context.fillStyle = colour(`--kind-${kind}`);
      context.fillRect(x, bottom - high, wide, high);
      bottom -= high;
    }
    if (errors > 0) {
      context.fillStyle = colour('--bad');
      // Among many calls that went well a failed one is paler.
      context.globalAlpha = 0.35 + 0.65 * Math.min(1, errors / Math.max(1, calls));
      context.fillRect(x, LANES.errors.top, Math.max(2, wide), LANES.errors.height);
      context.globalAlpha = 1;
    }
  }
  drawPatterns(canvas, overview, xOf);
  drawTokens(canvas, overview, xOf);
  drawAdvice(canvas, overview.advice, xOf);
  drawLabels(canvas, places.labels, xOf);
  if (places.selected !== undefined) {
    context.fillStyle = colour('--accent');
    context.fillRect(Math.round(xOf(places.selected)), 0, 2, LANES_HEIGHT);
  }
}

function markWidth(columnPx: number, { seqsPerBucket }: Overview): number {
  const wide = Math.max(1, columnPx - (columnPx > 3.5 ? 1 : 0));
  return seqsPerBucket > 1 ? wide : Math.min(MAX_MARK_PX, wide);
}

function drawPatterns({ context, colour, widthPx }: Canvas, overview: Overview, xOf: (seq: number) => number): void {
  const rowHeight = LANES.patterns.height / PATTERN_ROWS;
  for (const { span, row } of packPatterns(overview.patterns, PATTERN_ROWS)) {
    const from = xOf(span.fromSeq);
    const to = Math.max(from + 3, xOf(span.toSeq ?? overview.nextSeq));
    if (to < 0 || from > widthPx) continue;
    const top = LANES.patterns.top + row * rowHeight;
    context.fillStyle = colour(span.stuck ? '--stuck-mark' : '--line-strong');
    context.fillRect(from, top, to - from, rowHeight - 2);
    if (span.flaggedSeq === null) continue;
    context.fillStyle = colour('--ink');
    context.fillRect(xOf(span.flaggedSeq), top - 1, 2, rowHeight);
  }
}

/** The tokens of the run up to each place, as an area that only rises. */
function drawTokens({ context, colour, widthPx }: Canvas, overview: Overview, xOf: (seq: number) => number): void {
  const all = overview.tokens.reduce((sum, tokens) => sum + tokens, 0);
  if (all === 0) return;
  const { height, top } = LANES.tokens;
  context.fillStyle = colour('--kind-read');
  let sum = 0;
  for (const [bucket, tokens] of overview.tokens.entries()) {
    sum += tokens;
    const [from, to] = [xOf(bucket * overview.seqsPerBucket), xOf((bucket + 1) * overview.seqsPerBucket)];
    if (to < 0 || from > widthPx) continue;
    const high = (height * sum) / all;
    context.fillRect(from, top + height - high, Math.max(1, to - from), high);
  }
}

/** Feedback is a disc, guidance a diamond; what is not known to have reached the agent is hollow. */
function drawAdvice(
  { context, colour, widthPx }: Canvas,
  advice: readonly AdviceMark[],
  xOf: (seq: number) => number,
): void {
  const middle = LANES.advice.top + LANES.advice.height / 2;
  context.fillStyle = colour('--advice');
  context.strokeStyle = colour('--advice');
  context.lineWidth = 1.5;
  for (const { seq, speaker, delivered } of advice) {
    const x = xOf(seq);
    if (x < -6 || x > widthPx + 6) continue;
    context.beginPath();
    if (speaker === 'feedback') context.arc(x, middle, 4.2, 0, 2 * Math.PI);
    else {
      context.moveTo(x, middle - 5.5);
      context.lineTo(x + 5.5, middle);
      context.lineTo(x, middle + 5.5);
      context.lineTo(x - 5.5, middle);
      context.closePath();
    }
    if (delivered !== true) context.stroke();
    else context.fill();
  }
}

/** A flag where a person said something of a call. */
function drawLabels({ context, colour }: Canvas, labels: Places['labels'], xOf: (seq: number) => number): void {
  for (const [seq, text] of labels) {
    const x = xOf(seq);
    context.fillStyle = colour(text === 'stuck' ? '--stuck-mark' : '--good');
    context.beginPath();
    context.moveTo(x, LANES.calls.top - 2);
    context.lineTo(x + 9, LANES.calls.top + 3);
    context.lineTo(x, LANES.calls.top + 8);
    context.fill();
    context.fillRect(x - 1, LANES.calls.top - 2, 1.5, LANES.calls.height + 2);
  }
}

/** The whole run in little, with the window that the lanes show. */
export function drawMinimap(canvas: Canvas, overview: Overview, window: SeqWindow, places: Places): void {
  const { context, widthPx, colour } = canvas;
  const count = Math.max(1, overview.nextSeq);
  const whole = { from: 0, to: count };
  const xOf = (seq: number): number => (seq * widthPx) / count;
  context.clearRect(0, 0, widthPx, MINIMAP_HEIGHT);
  context.fillStyle = colour('--sunken');
  context.fillRect(0, 0, widthPx, MINIMAP_HEIGHT);
  const columns = columnsOf(overview, whole, { widthPx, minPx: 2 });
  const most = Math.max(1, ...columns.map(({ calls }) => calls));
  const room = MINIMAP_HEIGHT - 8;
  for (const { x, width, calls, errors } of columns) {
    if (calls === 0 && errors === 0) continue;
    const high = Math.max(3, (room * Math.max(calls, errors)) / most);
    const failed = Math.min(high, Math.max(errors > 0 ? 2 : 0, (high * errors) / Math.max(1, calls)));
    const wide = markWidth(width, overview);
    context.fillStyle = colour('--kind-read');
    context.globalAlpha = 0.5;
    context.fillRect(x, room + 2 - high, wide, high - failed);
    context.fillStyle = colour('--bad');
    context.globalAlpha = 0.85;
    context.fillRect(x, room + 2 - failed, wide, failed);
  }
  context.globalAlpha = 1;
  for (const { stuck, fromSeq, toSeq } of overview.patterns) {
    if (!stuck) continue;
    context.fillStyle = colour('--stuck-mark');
    context.fillRect(xOf(fromSeq), MINIMAP_HEIGHT - 5, Math.max(2, xOf((toSeq ?? count) - fromSeq)), 2);
  }
  context.fillStyle = colour('--advice');
  for (const { delivered, seq } of overview.advice) {
    if (delivered === true) context.fillRect(xOf(seq) - 1, MINIMAP_HEIGHT - 2.5, 2.5, 2.5);
  }
  if (window.to - window.from < count) {
    context.fillStyle = colour('--paper');
    context.globalAlpha = 0.7;
    context.fillRect(0, 0, xOf(window.from), MINIMAP_HEIGHT);
    context.fillRect(xOf(window.to), 0, widthPx, MINIMAP_HEIGHT);
    context.globalAlpha = 1;
  }
  context.strokeStyle = colour('--accent');
  context.lineWidth = 1;
  const [from, to] = [xOf(window.from), xOf(window.to)];
  context.strokeRect(from + 0.5, 0.5, Math.max(2, to - from - 1), MINIMAP_HEIGHT - 1);
  context.fillStyle = colour('--accent');
  context.fillRect(xOf(places.selected ?? places.visible.from), 0, 2, MINIMAP_HEIGHT);
}
