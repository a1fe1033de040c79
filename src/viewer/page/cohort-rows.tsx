import { useEffect, useRef, useState, type PointerEvent, type ReactElement } from 'react';

import { countOf } from '../../base/number-text.ts';
import type { CohortRow } from '../server/cohort-shapes.ts';
import { idsText, type RunFilters } from './api.ts';
import { runKey } from './route.ts';
import { onThemeChange } from './theme.ts';
import { goTo } from './use-route.ts';

const ROW_PX = 2;
const MIN_PX = 24;
const MAX_PX = 480;
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
      const { current } = canvas;
      const context = current?.getContext('2d');
      if (current === null || context === null || context === undefined) return;
      const widthPx = current.clientWidth;
      const ratio = devicePixelRatio;
      current.width = widthPx * ratio;
      current.height = heightPx * ratio;
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      const style = getComputedStyle(current);
      const colour = (name: string): string => style.getPropertyValue(name);
      const most = Math.max(1, ...rows.map(({ calls }) => calls));
      const room = widthPx - VERDICT_PX - 4;
      const highPx = heightPx / Math.max(1, rows.length);
      for (const [at, { calls, strip, verdict }] of rows.entries()) {
        // Whole pixels, because blurred rows would make stripes.
        const topPx = Math.round(at * highPx * ratio) / ratio;
        const rowPx = Math.max(1 / ratio, Math.round((at + 1) * highPx * ratio) / ratio - topPx - (highPx > 3 ? 1 : 0));
        // The width follows the square root, so that a run of thousands of calls does not squeeze the others.
        const markPx = (room * Math.sqrt(calls / most)) / Math.max(1, strip.length);
        for (let mark = 0; mark < strip.length; mark += 1) {
          context.fillStyle = colour(COLOURS[strip[mark] ?? '.'] ?? '--line-strong');
          context.fillRect(mark * markPx, topPx, markPx, rowPx);
        }
        context.fillStyle = colour(VERDICTS[verdict]);
        context.fillRect(widthPx - VERDICT_PX, topPx, VERDICT_PX, rowPx);
      }
    };
    draw();
    const sizes = new ResizeObserver(draw);
    if (canvas.current !== null) sizes.observe(canvas.current);
    const end = onThemeChange(draw);
    return () => {
      sizes.disconnect();
      end();
    };
  }, [rows, heightPx]);
  const placeOf = ({ clientY, currentTarget }: PointerEvent): number =>
    Math.max(0, Math.min(heightPx - 1, clientY - currentTarget.getBoundingClientRect().top));
  const rowAt = (px: number): number => Math.floor((px / heightPx) * rows.length);
  const [first, last] = brush === undefined ? [0, -1] : [rowAt(Math.min(...brush)), rowAt(Math.max(...brush))];
  const brushed = rows.slice(first, Math.min(last + 1, first + MAX_BRUSHED));
  const open = (): void => {
    if (brush === undefined) return;
    setBrush(undefined);
    const [run] = brushed;
    if (run === undefined) return;
    if (Math.abs(brush[1] - brush[0]) < CLICK_PX) {
      const clicked = rows[rowAt(brush[1])] ?? run;
      goTo({ page: 'run', run: { source: clicked.source, runId: clicked.runId } });
    } else goTo({ page: 'runs', filters: { ...filters, ids: idsText(brushed.map(runKey)) } });
  };
  const stuck = rows.filter(({ strip }) => strip.includes('!')).length;
  return (
    <>
      <div className="cohort-rows">
        <canvas
          ref={canvas}
          style={{ height: heightPx }}
          role="img"
          aria-label={`${rows.length} runs, of which ${stuck} were stuck at some point. The list of runs holds the same.`}
          onPointerDown={(event) => {
            if (event.button !== 0) return;
            if (event.pointerType === 'mouse') event.currentTarget.setPointerCapture(event.pointerId);
            setBrush([placeOf(event), placeOf(event)]);
          }}
          onPointerMove={(event) => {
            if (brush !== undefined) setBrush([brush[0], placeOf(event)]);
          }}
          onPointerUp={open}
          // A touch that scrolls the page cancels the pointer.
          onPointerCancel={() => setBrush(undefined)}
        />
        {brush === undefined ? null : (
          <div
            className="brush"
            style={{
              top: (first / rows.length) * heightPx,
              height: Math.max(1, (brushed.length / rows.length) * heightPx),
            }}
          >
            <span>{countOf(brushed.length, 'run')}</span>
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
