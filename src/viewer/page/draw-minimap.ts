import { markWidth, type TimelinePicture } from './draw-timeline.ts';
import type { Canvas } from './prepare-canvas.ts';
import { columnsOf } from './timeline-layout.ts';

export const MINIMAP_HEIGHT = 24;

/** Draws the whole run in a small strip, with the visible window of the lanes. */
export function drawMinimap(canvas: Canvas, picture: TimelinePicture): void {
  const { context, widthPx, colour } = canvas;
  const { overview, scale, window } = picture;
  const xOfPlace = (place: number): number => (place * widthPx) / scale.length;
  const xOf = (seq: number): number => xOfPlace(scale.placeOf(seq));
  context.clearRect(0, 0, widthPx, MINIMAP_HEIGHT);
  context.fillStyle = colour('--sunken');
  context.fillRect(0, 0, widthPx, MINIMAP_HEIGHT);
  const columns = columnsOf(overview, { from: 0, to: scale.length }, { widthPx, minPx: 2, scale });
  const maxCalls = Math.max(1, ...columns.map(({ calls }) => calls));
  const barsPx = MINIMAP_HEIGHT - 8;
  for (const { x, width, calls, errors } of columns) {
    if (calls === 0 && errors === 0) continue;
    const barPx = Math.max(3, (barsPx * Math.max(calls, errors)) / maxCalls);
    const failedPx = Math.min(barPx, Math.max(errors > 0 ? 2 : 0, (barPx * errors) / Math.max(1, calls)));
    const markPx = markWidth(width, overview);
    context.fillStyle = colour('--kind-read');
    context.globalAlpha = 0.5;
    context.fillRect(x, barsPx + 2 - barPx, markPx, barPx - failedPx);
    context.fillStyle = colour('--bad');
    context.globalAlpha = 0.85;
    context.fillRect(x, barsPx + 2 - failedPx, markPx, failedPx);
  }
  context.globalAlpha = 1;
  for (const { stuck, fromSeq, toSeq } of overview.patterns) {
    if (!stuck) continue;
    context.fillStyle = colour('--stuck-mark');
    context.fillRect(xOf(fromSeq), MINIMAP_HEIGHT - 5, Math.max(2, xOf(toSeq ?? overview.nextSeq) - xOf(fromSeq)), 2);
  }
  context.fillStyle = colour('--advice');
  for (const { delivered, seq } of overview.advice) {
    if (delivered === true) context.fillRect(xOf(seq) - 1, MINIMAP_HEIGHT - 2.5, 2.5, 2.5);
  }
  if (window.to - window.from < scale.length) {
    context.fillStyle = colour('--paper');
    context.globalAlpha = 0.7;
    context.fillRect(0, 0, xOfPlace(window.from), MINIMAP_HEIGHT);
    context.fillRect(xOfPlace(window.to), 0, widthPx, MINIMAP_HEIGHT);
    context.globalAlpha = 1;
  }
  context.strokeStyle = colour('--accent');
  context.lineWidth = 1;
  const [fromX, toX] = [xOfPlace(window.from), xOfPlace(window.to)];
  context.strokeRect(fromX + 0.5, 0.5, Math.max(2, toX - fromX - 1), MINIMAP_HEIGHT - 1);
  context.fillStyle = colour('--accent');
  context.fillRect(xOf(picture.selected ?? picture.visible.from), 0, 2, MINIMAP_HEIGHT);
}
