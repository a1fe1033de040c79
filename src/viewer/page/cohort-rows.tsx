import { useEffect, useRef, useState, type PointerEvent, type ReactElement } from 'react';

import { countOf } from '../../base/number-text.ts';
import type { CohortRow } from '../server/cohort-shapes.ts';
import { idsText, type RunFilters } from './api.ts';
import { prepareCanvas } from './prepare-canvas.ts';
import { runKey } from './route.ts';
import { onThemeChange } from './theme.ts';
import { goTo } from './use-route.ts';

const ROW_PX = 2;
const MIN_PX = 24;
const MAX_PX = 320;
/** A shorter movement of the pointer is a click. */
const CLICK_PX = 4;
/** Maximum number of runs in an address. */
const MAX_BRUSHED = 60;
/** Width reserved for the verdict at the right edge, in pixels. */
const VERDICT_PX = 18;

const COLOURS: Readonly<Record<string, string>> = {
  '!': '--stuck-mark',
  x: '--bad',
  a: '--advice',
  '.': '--line-strong',
};
const VERDICTS = { worked: '--good', failed: '--bad', unknown: '--hover' } as const;

/** Draws one run per row, with calls from left to right and the verdict at the right edge. A click opens a run, a drag lists runs. */
export function CohortRows(props: { readonly rows: readonly CohortRow[]; readonly filters: RunFilters }): ReactElement {
  const { filters, rows } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [brush, setBrush] = useState<readonly [fromPx: number, toPx: number] | undefined>(undefined);
  const heightPx = Math.min(MAX_PX, Math.max(MIN_PX, rows.length * ROW_PX));
  useEffect(() => {
    const draw = (): void => {
      const prepared = prepareCanvas(canvas.current, heightPx);
      if (prepared === undefined) return;
      const { colour, context, widthPx } = prepared;
      const ratio = devicePixelRatio;
      context.clearRect(0, 0, widthPx, heightPx);
      const maxCalls = Math.max(1, ...rows.map(({ calls }) => calls));
      const stripPx = widthPx - VERDICT_PX - 4;
      const heightPerRow = heightPx / Math.max(1, rows.length);
      for (const [index, { calls, strip, verdict }] of rows.entries()) {
        // Whole pixels, because blurred rows would make stripes.
        const topPx = Math.round(index * heightPerRow * ratio) / ratio;
        const rowPx = Math.max(
          1 / ratio,
          Math.round((index + 1) * heightPerRow * ratio) / ratio - topPx - (heightPerRow > 3 ? 1 : 0),
        );
        // The width follows the square root, so that a run of thousands of calls does not squeeze the others.
        const markPx = (stripPx * Math.sqrt(calls / maxCalls)) / Math.max(1, strip.length);
        for (let mark = 0; mark < strip.length; mark += 1) {
          context.fillStyle = colour(COLOURS[strip[mark] ?? '.'] ?? '--line-strong');
          context.fillRect(mark * markPx, topPx, markPx, rowPx);
        }
        context.fillStyle = colour(VERDICTS[verdict]);
        context.fillRect(widthPx - VERDICT_PX, topPx, VERDICT_PX, rowPx);
      }
    };
    draw();
    const resizeObserver = new ResizeObserver(draw);
    if (canvas.current !== null) resizeObserver.observe(canvas.current);
    const unsubscribe = onThemeChange(draw);
    return () => {
      resizeObserver.disconnect();
      unsubscribe();
    };
  }, [rows, heightPx]);
  const offsetPxOf = ({ clientY, currentTarget }: PointerEvent): number =>
    Math.max(0, Math.min(heightPx - 1, clientY - currentTarget.getBoundingClientRect().top));
  const rowAt = (px: number): number => Math.floor((px / heightPx) * rows.length);
  const [firstRow, lastRow] = brush === undefined ? [0, -1] : [rowAt(Math.min(...brush)), rowAt(Math.max(...brush))];
  const brushedRows = rows.slice(firstRow, Math.min(lastRow + 1, firstRow + MAX_BRUSHED));
  const openBrushed = (): void => {
    if (brush === undefined) return;
    setBrush(undefined);
    const [run] = brushedRows;
    if (run === undefined) return;
    if (Math.abs(brush[1] - brush[0]) < CLICK_PX) {
      const clickedRow = rows[rowAt(brush[1])] ?? run;
      goTo({ page: 'run', run: { source: clickedRow.source, runId: clickedRow.runId } });
    } else goTo({ page: 'runs', filters: { ...filters, ids: idsText(brushedRows.map(runKey)) } });
  };
  const stuckCount = rows.filter(({ strip }) => strip.includes('!')).length;
  return (
    <>
      <div className="cohort-rows">
        <canvas
          ref={canvas}
          style={{ height: heightPx }}
          role="img"
          aria-label={`${rows.length} runs, of which ${stuckCount} were stuck at some point. The list of runs holds the same.`}
          onPointerDown={(event) => {
            if (event.button !== 0) return;
            if (event.pointerType === 'mouse') event.currentTarget.setPointerCapture(event.pointerId);
            setBrush([offsetPxOf(event), offsetPxOf(event)]);
          }}
          onPointerMove={(event) => {
            if (brush !== undefined) setBrush([brush[0], offsetPxOf(event)]);
          }}
          onPointerUp={openBrushed}
          // A touch that scrolls the page cancels the pointer.
          onPointerCancel={() => setBrush(undefined)}
        />
        {brush === undefined ? null : (
          <div
            className="brush"
            style={{
              top: (firstRow / rows.length) * heightPx,
              height: Math.max(1, (brushedRows.length / rows.length) * heightPx),
            }}
          >
            <span>{countOf(brushedRows.length, 'run')}</span>
          </div>
        )}
      </div>
      <p className="dim">
        {(
          [
            ['stuck', '--stuck-mark'],
            ['failed call', '--bad'],
            ['advice', '--advice'],
            ['fine', '--line-strong'],
            ['at the right edge: succeeded', '--good'],
            ['failed', '--bad'],
          ] as const
        ).map(([words, colour]) => (
          // React's types do not include custom properties.
          <span key={words} className="key" style={{ ['--key' as string]: `var(${colour})` }}>
            {words}{' '}
          </span>
        ))}
      </p>
    </>
  );
}
