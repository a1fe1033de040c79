import { useEffect, useMemo, useRef, useState, type PointerEvent, type ReactElement } from 'react';

import type { Overview } from '../server/api-shapes.ts';
import { drawLanes, drawMinimap, LANES, LANES_HEIGHT, MINIMAP_HEIGHT, type Canvas } from './draw-timeline.ts';
import { isTyping } from './is-typing.ts';
import { countOf, countText } from '../../base/number-text.ts';
import { clockText } from './number-text.ts';
import { fitted, zoomed, type SeqWindow } from './timeline-layout.ts';
import { TOOL_KINDS } from './tool-kinds.ts';
import { onThemeChange } from './theme.ts';
import type { VisibleRange } from './visible-range.ts';

/** The run from left to right: the whole of it in little, and lanes of what happened in the part looked at. */
export function Timeline(props: {
  readonly overview: Overview;
  readonly range: VisibleRange;
  readonly selected: number | undefined;
  /** What people said of calls, by `seq`. */
  readonly labels: ReadonlyMap<number, string>;
  /** The reader wants to see this `seq`. */
  readonly onGo: (seq: number) => void;
}): ReactElement {
  const { overview, range, selected, labels, onGo } = props;
  const count = Math.max(1, overview.nextSeq);
  const [chosen, setChosen] = useState<SeqWindow | undefined>();
  const window = useMemo(
    () => (chosen === undefined ? { from: 0, to: count } : fitted(chosen, count)),
    [chosen, count],
  );
  const [hovered, setHovered] = useState<number | undefined>();
  const lanes = useRef<HTMLCanvasElement>(null);
  const minimap = useRef<HTMLCanvasElement>(null);
  useDrawing({ lanes, minimap, overview, window, range, selected, labels });
  // A selection that lies outside is brought into the window.
  useEffect(() => {
    if (selected === undefined || chosen === undefined) return;
    if (selected >= chosen.from && selected < chosen.to) return;
    const half = (chosen.to - chosen.from) / 2;
    setChosen(fitted({ from: selected - half, to: selected + half }, count));
  }, [selected, chosen, count]);

  const zoom = (factor: number, about: number): void => {
    const next = zoomed(window, factor, { about, count });
    setChosen(next.to - next.from >= count ? undefined : next);
  };
  const middle = selected !== undefined && selected >= window.from && selected < window.to ? selected : undefined;
  const about = middle ?? (window.from + window.to) / 2;
  useZoomKeys((key) => (key === '0' ? setChosen(undefined) : zoom(key === '+' ? 0.5 : 2, about)));
  useWheel(lanes, (event, share) => {
    const at = window.from + share * (window.to - window.from);
    if (event.ctrlKey || event.metaKey) zoom(event.deltaY > 0 ? 1.25 : 0.8, at);
    else {
      const by = ((event.deltaX + event.deltaY) / 600) * (window.to - window.from);
      if (chosen !== undefined) setChosen(fitted({ from: window.from + by, to: window.to + by }, count));
    }
  });
  const dragMinimap = (event: PointerEvent<HTMLCanvasElement>): void => {
    if (event.buttons !== 1) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    const seq = Math.round(shareOf(event) * (count - 1));
    if (chosen !== undefined) {
      const half = (window.to - window.from) / 2;
      setChosen(fitted({ from: seq - half, to: seq + half }, count));
    }
    onGo(seq);
  };
  const seqAt = (event: PointerEvent<HTMLCanvasElement>): number =>
    Math.min(count - 1, Math.floor(window.from + shareOf(event) * (window.to - window.from)));
  return (
    <section className="timeline" aria-label="Timeline">
      <div className="lane-names" aria-hidden="true">
        {Object.values(LANES).map(({ name, top, height }) => (
          <span key={name} style={{ top: MINIMAP_HEIGHT + 6 + top + height / 2 - 5 }}>
            {name}
          </span>
        ))}
      </div>
      <div>
        <canvas
          ref={minimap}
          height={MINIMAP_HEIGHT}
          style={{ height: MINIMAP_HEIGHT, marginBottom: 6 }}
          role="img"
          aria-label={`The whole run in little, ${countOf(count, 'record')}`}
          onPointerDown={dragMinimap}
          onPointerMove={dragMinimap}
        />
        <canvas
          ref={lanes}
          height={LANES_HEIGHT}
          style={{ height: LANES_HEIGHT }}
          role="img"
          aria-label={`${describe(overview)}${labels.size === 0 ? '' : ` ${countOf(labels.size, 'call')} labelled.`}`}
          onPointerDown={(event) => onGo(nearestMark(overview, window, { seq: seqAt(event), event }))}
          onPointerMove={(event) => setHovered(seqAt(event))}
          onPointerLeave={() => setHovered(undefined)}
        />
      </div>
      <div className="tools">
        {TOOL_KINDS.filter(({ kind }) => overview.kinds[kind]?.some((calls) => calls > 0)).map(({ name, colour }) => (
          // A custom property, which the types of React do not know.
          <span key={name} className="key" style={{ ['--key' as string]: `var(${colour})` }}>
            {name}
          </span>
        ))}
        <span className="spring" />
        <span aria-hidden="true">{placeText(overview, hovered ?? selected)}</span>
        <span>
          <button type="button" className="quiet" aria-label="Zoom in" onClick={() => zoom(0.5, about)}>
            +
          </button>
          <button type="button" className="quiet" aria-label="Zoom out" onClick={() => zoom(2, about)}>
            −
          </button>
          <button type="button" className="quiet" disabled={chosen === undefined} onClick={() => setChosen(undefined)}>
            Whole run
          </button>
        </span>
      </div>
    </section>
  );
}

/** Where a pointer is, from 0 at the left edge to 1. */
function shareOf(event: { readonly currentTarget: Element; readonly clientX: number }): number {
  const { left, width } = event.currentTarget.getBoundingClientRect();
  return Math.max(0, Math.min(1, (event.clientX - left) / Math.max(1, width)));
}

/** The advice or pattern that was pointed at, where one is near; else the place itself. */
function nearestMark(
  overview: Overview,
  window: SeqWindow,
  { seq, event }: { readonly seq: number; readonly event: PointerEvent<HTMLCanvasElement> },
): number {
  const { top, width } = event.currentTarget.getBoundingClientRect();
  const y = event.clientY - top;
  const reach = (8 * (window.to - window.from)) / Math.max(1, width);
  const places =
    y >= LANES.advice.top && y < LANES.tokens.top
      ? overview.advice.map((mark) => mark.seq)
      : y >= LANES.patterns.top && y < LANES.advice.top
        ? overview.patterns.map(({ flaggedSeq, fromSeq }) => flaggedSeq ?? fromSeq)
        : [];
  const near = places.filter((place) => Math.abs(place - seq) <= reach);
  return near.sort((a, b) => Math.abs(a - seq) - Math.abs(b - seq))[0] ?? seq;
}

function placeText(overview: Overview, seq: number | undefined): string {
  if (seq === undefined) return '';
  const bucket = Math.min(overview.buckets - 1, Math.floor(seq / overview.seqsPerBucket));
  const time = clockText(overview.atMs[bucket] ?? 0);
  const call = (overview.firstCall[bucket] ?? 0) + ((overview.calls[bucket] ?? 0) > 0 ? 1 : 0);
  const tokens = overview.tokens.slice(0, bucket + 1).reduce((sum, one) => sum + one, 0);
  const parts = [
    time,
    ...(call === 0 ? [] : [`call ${countText(call)}`]),
    ...(tokens === 0 ? [] : [`${countText(tokens)} tokens so far`]),
  ];
  return parts.join(' · ');
}

function describe({ patterns, advice, errors }: Overview): string {
  const failed = errors.reduce((sum, count) => sum + count, 0);
  const stuck = patterns.filter((pattern) => pattern.stuck).length;
  const unsaid = advice.filter(({ delivered }) => delivered !== true).length;
  return `Lanes of turns, calls, errors, patterns and advice: ${countOf(failed, 'error')}, ${countOf(patterns.length, 'pattern')} of which ${stuck} say stuck, ${countOf(advice.length, 'piece')} of advice${unsaid === 0 ? '' : `, ${unsaid} not known as said`}. The lists beside the conversation hold the same.`;
}

function useDrawing(picture: {
  readonly lanes: { readonly current: HTMLCanvasElement | null };
  readonly minimap: { readonly current: HTMLCanvasElement | null };
  readonly overview: Overview;
  readonly window: SeqWindow;
  readonly range: VisibleRange;
  readonly selected: number | undefined;
  readonly labels: ReadonlyMap<number, string>;
}): void {
  const { lanes, minimap, overview, window, range, selected, labels } = picture;
  useEffect(() => {
    let frame = 0;
    const draw = (): void => {
      frame = 0;
      const places = { visible: range.get(), selected, labels };
      const [below, above] = [prepare(lanes.current, LANES_HEIGHT), prepare(minimap.current, MINIMAP_HEIGHT)];
      if (below !== undefined) drawLanes(below, overview, window, places);
      if (above !== undefined) drawMinimap(above, overview, window, places);
    };
    const soon = (): void => {
      if (frame === 0) frame = requestAnimationFrame(draw);
    };
    draw();
    const sizes = new ResizeObserver(soon);
    if (lanes.current !== null) sizes.observe(lanes.current);
    const ends = [range.subscribe(soon), onThemeChange(soon)];
    return () => {
      cancelAnimationFrame(frame);
      sizes.disconnect();
      for (const end of ends) end();
    };
  }, [lanes, minimap, overview, window, range, selected, labels]);
}

function prepare(canvas: HTMLCanvasElement | null, height: number): Canvas | undefined {
  const context = canvas?.getContext('2d');
  if (canvas === null || context === null || context === undefined) return undefined;
  const widthPx = canvas.clientWidth;
  const ratio = devicePixelRatio;
  if (canvas.width !== Math.round(widthPx * ratio)) canvas.width = Math.round(widthPx * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  const style = getComputedStyle(canvas);
  const known = new Map<string, string>();
  const colour = (name: string): string => {
    const value = known.get(name) ?? style.getPropertyValue(name).trim();
    known.set(name, value);
    return value;
  };
  return { context, widthPx, colour };
}

function useZoomKeys(onKey: (key: '+' | '-' | '0') => void): void {
  const latest = useRef(onKey);
  latest.current = onKey;
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (isTyping(event)) return;
      const key = event.key === '=' ? '+' : event.key;
      if (key !== '+' && key !== '-' && key !== '0') return;
      event.preventDefault();
      latest.current(key);
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
}

function useWheel(
  canvas: { readonly current: HTMLCanvasElement | null },
  onWheel: (event: WheelEvent, share: number) => void,
): void {
  const latest = useRef(onWheel);
  latest.current = onWheel;
  useEffect(() => {
    const { current } = canvas;
    const listen = (event: WheelEvent): void => {
      event.preventDefault();
      if (current !== null) latest.current(event, shareOf({ currentTarget: current, clientX: event.clientX }));
    };
    // React's own wheel listeners are passive: they cannot keep the browser from zooming the page.
    current?.addEventListener('wheel', listen, { passive: false });
    return () => current?.removeEventListener('wheel', listen);
  }, [canvas]);
}
