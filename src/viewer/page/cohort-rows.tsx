import { useEffect, useRef, type PointerEvent, type ReactElement } from 'react';

import type { CohortRow } from '../server/cohort-shapes.ts';
import { onThemeChange } from './theme.ts';
import { goTo } from './use-route.ts';

const ROW_PX = 2;
const MIN_PX = 24;
/** Width reserved for the verdict at the right edge, in pixels. */
const VERDICT_PX = 18;

const COLOURS: Readonly<Record<string, string>> = {
  '!': '--stuck-mark',
  x: '--bad',
  a: '--advice',
  '.': '--line-strong',
};
const VERDICTS = { worked: '--good', failed: '--bad', unknown: '--hover' } as const;

/** Draws one run per row, with calls from left to right and the verdict at the right edge. */
export function CohortRows({ rows }: { readonly rows: readonly CohortRow[] }): ReactElement {
  const canvas = useRef<HTMLCanvasElement>(null);
  const heightPx = Math.max(MIN_PX, rows.length * ROW_PX);
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
        // The width follows the square root, so that a run of thousands of calls does not squeeze the others.
        const markPx = (room * Math.sqrt(calls / most)) / Math.max(1, strip.length);
        for (let mark = 0; mark < strip.length; mark += 1) {
          context.fillStyle = colour(COLOURS[strip[mark] ?? '.'] ?? '--line-strong');
          context.fillRect(mark * markPx, at * highPx, markPx, highPx - (highPx > 3 ? 1 : 0));
        }
        context.fillStyle = colour(VERDICTS[verdict]);
        context.fillRect(widthPx - VERDICT_PX, at * highPx, VERDICT_PX, highPx - (highPx > 3 ? 1 : 0));
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
  const open = (event: PointerEvent<HTMLCanvasElement>): void => {
    const { height, top } = event.currentTarget.getBoundingClientRect();
    const run = rows[Math.floor(((event.clientY - top) / height) * rows.length)];
    if (run !== undefined) goTo({ page: 'run', run: { source: run.source, runId: run.runId } });
  };
  const stuck = rows.filter(({ strip }) => strip.includes('!')).length;
  return (
    <>
      <canvas
        ref={canvas}
        className="cohort-rows"
        style={{ height: heightPx }}
        role="img"
        aria-label={`${rows.length} runs, of which ${stuck} were stuck at some point. The list of runs holds the same.`}
        onPointerDown={open}
      />
      <p className="dim">
        {(
          [
            ['stuck', '--stuck-mark'],
            ['failed call', '--bad'],
            ['advice', '--advice'],
            ['fine', '--line-strong'],
            ['worked, at the right edge', '--good'],
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
