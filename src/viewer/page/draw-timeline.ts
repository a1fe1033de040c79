import { countText } from '../../base/number-text.ts';
import type { AdviceMark, Overview } from '../server/api-shapes.ts';
import type { TriedAdvice } from '../server/trial-shapes.ts';
import { costText, spanText } from './number-text.ts';
import type { Canvas } from './prepare-canvas.ts';
import { columnsOf, packPatterns, type Column, type PlaceWindow } from './timeline-layout.ts';
import { elapsedMs, type TimelineScale } from './timeline-scale.ts';
import type { SeqRange } from './visible-range.ts';

/** Position and size of a lane, in CSS pixels from the top. */
interface Lane {
  readonly top: number;
  readonly height: number;
  readonly name: string;
}

export type LaneName = 'time' | 'calls' | 'errors' | 'patterns' | 'advice' | 'tried' | 'context' | 'cost';

/** The lanes of the timeline. */
export interface Lanes {
  readonly lanes: Readonly<Partial<Record<LaneName, Lane>>>;
  readonly heightPx: number;
}

const PATTERN_ROWS = 3;
const MAX_MARK_PX = 12;
const MAX_CALL_PX = 64;
/** Calls narrower than this are not numbered. */
const NUMBER_PX = 20;
const TICK_PX = 110;
const FONT = '10px system-ui, sans-serif';

/** The content of the timeline. */
export interface TimelinePicture {
  readonly overview: Overview;
  readonly scale: TimelineScale;
  readonly window: PlaceWindow;
  readonly visible: SeqRange;
  /** The `seq` of the chosen record. */
  readonly selected: number | undefined;
  /** Labels of calls, keyed by `seq`. */
  readonly labels: ReadonlyMap<number, string>;
  /** The advice under another configuration, if the user chose one. */
  readonly tried: readonly TriedAdvice[] | undefined;
}

type XOf = (seq: number) => number;

/** Returns the lanes that a run needs. */
export function lanesOf({ overview, tried }: Pick<TimelinePicture, 'overview' | 'tried'>): Lanes {
  const hasCost = overview.costUsd.some((usd) => usd > 0);
  const possibleLanes: readonly (readonly [LaneName, string, number] | undefined)[] = [
    ['time', overview.endMs > 0 ? 'Time' : '', 13],
    ['calls', 'Calls', 26],
    ['errors', 'Errors', 9],
    ['patterns', 'Patterns', 21],
    ['advice', 'Advice', 14],
    tried === undefined ? undefined : ['tried', 'What if', 14],
    overview.context.some((tokens) => tokens > 0) ? ['context', 'Context', 18] : undefined,
    hasCost || overview.tokens.some((tokens) => tokens > 0) ? ['cost', hasCost ? 'Cost' : 'Tokens', 18] : undefined,
  ];
  const lanes: Partial<Record<LaneName, Lane>> = {};
  let top = 2;
  for (const lane of possibleLanes) {
    if (lane === undefined) continue;
    const [key, name, height] = lane;
    lanes[key] = { top, height, name };
    top += height + 4;
  }
  return { lanes, heightPx: top };
}

/** Draws the lanes for the visible window of the run. */
export function drawLanes(canvas: Canvas, picture: TimelinePicture): void {
  const { context, widthPx, colour } = canvas;
  const { overview, scale, selected, visible, window } = picture;
  const { heightPx, lanes } = lanesOf(picture);
  context.clearRect(0, 0, widthPx, heightPx);
  const xOf: XOf = (seq) => ((scale.placeOf(seq) - window.from) * widthPx) / (window.to - window.from);
  context.fillStyle = colour('--sunken');
  const [fromX, toX] = [xOf(visible.from), xOf(visible.to)];
  context.fillRect(fromX, 0, Math.max(2, toX - fromX), heightPx);
  context.fillStyle = colour('--line');
  for (const { height, name, top } of Object.values(lanes))
    if (name !== '') context.fillRect(0, top + height, widthPx, 1);
  drawIdle(canvas, picture, xOf, heightPx);
  if (lanes.time !== undefined) drawTime(canvas, picture, lanes.time);
  const columns = columnsOf(overview, window, { widthPx, minPx: 3, scale });
  if (lanes.calls !== undefined && lanes.errors !== undefined)
    drawCalls(canvas, columns, overview, { calls: lanes.calls, errors: lanes.errors });
  if (lanes.patterns !== undefined) drawPatterns(canvas, overview, xOf, lanes.patterns);
  if (lanes.context !== undefined) drawContext(canvas, overview, xOf, lanes.context);
  if (lanes.cost !== undefined) drawSum(canvas, overview, xOf, lanes.cost);
  if (lanes.advice !== undefined) {
    for (const { delivered, seq, speaker } of overview.advice)
      drawAdvice(canvas, { x: xOf(seq), speaker, isFull: delivered === true, colour: '--advice' }, lanes.advice);
  }
  if (lanes.tried !== undefined) {
    for (const { change, seq, speaker } of picture.tried ?? [])
      drawAdvice(
        canvas,
        { x: xOf(seq), speaker, isFull: change !== 'gone', colour: CHANGE_COLOURS[change] },
        lanes.tried,
      );
  }
  if (lanes.calls !== undefined) drawLabels(canvas, picture.labels, xOf, lanes.calls);
  if (selected === undefined) return;
  context.fillStyle = colour('--accent');
  context.fillRect(Math.round(xOf(selected)), 0, 2, heightPx);
}

const CHANGE_COLOURS: Readonly<Record<TriedAdvice['change'], string>> = {
  same: '--line-strong',
  earlier: '--good',
  later: '--stuck-mark',
  new: '--advice',
  gone: '--bad',
};

/** Draws labels with the elapsed time at regular distances. */
function drawTime(
  { colour, context, widthPx }: Canvas,
  { overview, scale, window }: TimelinePicture,
  lane: Lane,
): void {
  context.font = FONT;
  context.textBaseline = 'middle';
  context.fillStyle = colour('--dim');
  let previousText = '';
  for (let x = 0; x < widthPx - TICK_PX / 2; x += TICK_PX) {
    const seq = scale.seqAt(window.from + (x / widthPx) * (window.to - window.from));
    const ms = elapsedMs(overview, seq);
    const text = ms === undefined ? '' : ms < 1_000 ? 'start' : spanText(ms);
    if (text === previousText) continue;
    previousText = text;
    context.fillText(text, x + 3, lane.top + lane.height / 2);
    context.fillRect(x, lane.top + 3, 1, lane.height - 3);
  }
}

/** Draws each idle period: as a dashed line, or as a band if the scale shows time. */
function drawIdle(
  { colour, context, widthPx }: Canvas,
  { overview }: TimelinePicture,
  xOf: XOf,
  heightPx: number,
): void {
  context.font = FONT;
  context.textBaseline = 'bottom';
  context.strokeStyle = colour('--line-strong');
  context.lineWidth = 1;
  context.setLineDash([3, 3]);
  let previousX = 0;
  for (const { ms, seq } of overview.gaps) {
    const x = Math.round(xOf(seq)) - 0.5;
    if (x < 0 || x > widthPx) continue;
    context.beginPath();
    context.moveTo(x, 14);
    context.lineTo(x, heightPx);
    context.stroke();
    const text = `idle ${spanText(ms)}`;
    const width = context.measureText(text).width + 6;
    if (x - width < previousX) continue;
    previousX = x;
    context.fillStyle = colour('--surface');
    context.fillRect(x - width, heightPx - 13, width - 1, 12);
    context.fillStyle = colour('--dim');
    context.fillText(text, x - width + 3, heightPx - 1);
  }
  context.setLineDash([]);
}

function drawCalls(
  { colour, context }: Canvas,
  columns: readonly Column[],
  overview: Overview,
  lanes: { readonly calls: Lane; readonly errors: Lane },
): void {
  const maxCalls = Math.max(1, ...columns.map(({ calls }) => calls));
  const columnsWithCalls = columns.filter(({ calls, errors }) => calls > 0 || errors > 0);
  for (const [index, { call, calls, errors, kinds, width, x }] of columnsWithCalls.entries()) {
    const freePx = (columnsWithCalls[index + 1]?.x ?? x + MAX_CALL_PX) - x - 3;
    const isSingleCall = overview.seqsPerBucket === 1 && calls === 1;
    const markPx = isSingleCall && freePx > MAX_MARK_PX ? Math.min(MAX_CALL_PX, freePx) : markWidth(width, overview);
    const { height, top } = lanes.calls;
    const scale = Math.max(4, (height * calls) / maxCalls) / Math.max(1, calls);
    let bottom = top + height;
    for (const [kind, count] of kinds) {
      const partPx = count * scale;
      context.fillStyle = colour(`--kind-${kind}`);
      context.fillRect(x, bottom - partPx, markPx, partPx);
      bottom -= partPx;
    }
    if (isSingleCall && markPx >= NUMBER_PX) {
      context.font = FONT;
      context.textBaseline = 'middle';
      context.fillStyle = colour('--surface');
      context.fillText(String(call), x + 4, top + height / 2);
    }
    if (errors === 0) continue;
    context.fillStyle = colour('--bad');
    // The larger the share of successful calls, the paler the errors.
    context.globalAlpha = 0.35 + 0.65 * Math.min(1, errors / Math.max(1, calls));
    context.fillRect(x, lanes.errors.top, Math.max(2, markPx), lanes.errors.height);
    context.globalAlpha = 1;
  }
}

/** Returns the width of a mark, limited for short runs. */
export function markWidth(columnPx: number, { seqsPerBucket }: Overview): number {
  const markPx = Math.max(1, columnPx - (columnPx > 3.5 ? 1 : 0));
  return seqsPerBucket > 1 ? markPx : Math.min(MAX_MARK_PX, markPx);
}

function drawPatterns({ context, colour, widthPx }: Canvas, overview: Overview, xOf: XOf, lane: Lane): void {
  const rowHeight = lane.height / PATTERN_ROWS;
  for (const { span, row } of packPatterns(overview.patterns, PATTERN_ROWS)) {
    const fromX = xOf(span.fromSeq);
    const toX = Math.max(fromX + 3, xOf(span.toSeq ?? overview.nextSeq));
    if (toX < 0 || fromX > widthPx) continue;
    const top = lane.top + row * rowHeight;
    context.fillStyle = colour(span.stuck ? '--stuck-mark' : '--line-strong');
    context.fillRect(fromX, top, toX - fromX, rowHeight - 2);
    if (span.flaggedSeq === null) continue;
    context.fillStyle = colour('--ink');
    context.fillRect(xOf(span.flaggedSeq), top - 1, 2, rowHeight);
  }
}

/** Draws the tokens read per response as a step line. Compaction is a step down. */
function drawContext(canvas: Canvas, { context: tokens, seqsPerBucket }: Overview, xOf: XOf, lane: Lane): void {
  const maxTokens = Math.max(1, ...tokens);
  const steps = tokens.flatMap((count, bucket) =>
    count > 0 ? [[xOf(bucket * seqsPerBucket), count / maxTokens] as const] : [],
  );
  drawLine(canvas, steps, lane, '--kind-write');
  drawMaximum(canvas, `${countText(maxTokens)} tokens`, lane);
}

/** Draws the cumulative cost or tokens. */
function drawSum(canvas: Canvas, { costUsd, seqsPerBucket, tokens }: Overview, xOf: XOf, lane: Lane): void {
  const isCost = lane.name === 'Cost';
  const list = isCost ? costUsd : tokens;
  const total = list.reduce((sum, value) => sum + value, 0);
  let sum = 0;
  const steps = list.flatMap((value, bucket) => {
    sum += value;
    return value > 0 ? [[xOf(bucket * seqsPerBucket), sum / total] as const] : [];
  });
  drawLine(canvas, steps, lane, '--kind-read');
  drawMaximum(canvas, isCost ? costText(total) : `${countText(total)} tokens`, lane);
}

function drawLine(
  { colour, context, widthPx }: Canvas,
  steps: readonly (readonly [number, number])[],
  { height, top }: Lane,
  name: string,
): void {
  const [firstStep] = steps;
  if (firstStep === undefined) return;
  context.beginPath();
  context.moveTo(firstStep[0], top + height);
  let y = top + height;
  for (const [x, share] of steps) {
    context.lineTo(x, y);
    y = top + height - share * (height - 2);
    context.lineTo(x, y);
  }
  context.lineTo(widthPx, y);
  context.strokeStyle = colour(name);
  context.lineWidth = 1.5;
  context.stroke();
  context.lineTo(widthPx, top + height);
  context.closePath();
  context.fillStyle = colour(name);
  context.globalAlpha = 0.15;
  context.fill();
  context.globalAlpha = 1;
}

/** Writes the maximum of a line at its right end. */
function drawMaximum({ colour, context, widthPx }: Canvas, text: string, { top }: Lane): void {
  context.font = FONT;
  context.textBaseline = 'top';
  context.fillStyle = colour('--ink');
  context.fillText(text, widthPx - context.measureText(text).width - 3, top + 1);
}

/** Draws advice: feedback as a disc, guidance as a diamond. Undelivered or removed advice is hollow. */
function drawAdvice(
  { context, colour, widthPx }: Canvas,
  piece: Pick<AdviceMark, 'speaker'> & { readonly x: number; readonly isFull: boolean; readonly colour: string },
  lane: Lane,
): void {
  const { isFull, speaker, x } = piece;
  if (x < -6 || x > widthPx + 6) return;
  const middle = lane.top + lane.height / 2;
  context.fillStyle = colour(piece.colour);
  context.strokeStyle = colour(piece.colour);
  context.lineWidth = 1.5;
  context.beginPath();
  if (speaker === 'feedback') context.arc(x, middle, 4.2, 0, 2 * Math.PI);
  else {
    context.moveTo(x, middle - 5.5);
    context.lineTo(x + 5.5, middle);
    context.lineTo(x, middle + 5.5);
    context.lineTo(x - 5.5, middle);
    context.closePath();
  }
  if (isFull) context.fill();
  else context.stroke();
}

/** Draws a flag at each labelled call. */
function drawLabels({ context, colour }: Canvas, labels: TimelinePicture['labels'], xOf: XOf, lane: Lane): void {
  for (const [seq, text] of labels) {
    const x = xOf(seq);
    context.fillStyle = colour(text === 'stuck' ? '--stuck-mark' : '--good');
    context.beginPath();
    context.moveTo(x, lane.top - 2);
    context.lineTo(x + 9, lane.top + 3);
    context.lineTo(x, lane.top + 8);
    context.fill();
    context.fillRect(x - 1, lane.top - 2, 1.5, lane.height + 2);
  }
}
