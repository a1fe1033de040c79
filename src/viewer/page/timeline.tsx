import { useEffect, useMemo, useRef, useState, type PointerEvent, type ReactElement } from 'react';

import type { Overview } from '../server/api-shapes.ts';
import type { TriedAdvice } from '../server/trial-shapes.ts';
import { drawMinimap, MINIMAP_HEIGHT } from './draw-minimap.ts';
import { drawLanes, lanesOf, type Canvas, type LaneName, type Lanes, type TimelinePicture } from './draw-timeline.ts';
import { isTyping } from './is-typing.ts';
import { countOf, countText } from '../../base/number-text.ts';
import { clockText, costText } from './number-text.ts';
import { fitted, zoomed, type PlaceWindow } from './timeline-layout.ts';
import { recordScale, timeScale, type TimelineScale } from './timeline-scale.ts';
import { KIND_STYLES } from './tool-kinds.ts';
import { onThemeChange } from './theme.ts';
import type { VisibleRange } from './visible-range.ts';

/** The minimum number of records across the whole width. */
const MIN_RECORDS = 40;

/** Shows the timeline of a run: a minimap, and the lanes of the visible window. */
export function Timeline(props: {
  readonly overview: Overview;
  readonly range: VisibleRange;
  readonly selected: number | undefined;
  /** Labels of calls, keyed by `seq`. */
  readonly labels: ReadonlyMap<number, string>;
  /** The advice under another configuration, if the user chose one. */
  readonly tried: readonly TriedAdvice[] | undefined;
  /** Called to scroll to this `seq`. */
  readonly onGo: (seq: number) => void;
}): ReactElement {
  const { overview, range, selected, labels, onGo, tried } = props;
  const [isByTime, setByTime] = useState(false);
  const byTime = useMemo(() => timeScale(overview), [overview]);
  const scale = useMemo(
    () => (isByTime && byTime !== undefined ? byTime : recordScale(overview)),
    [isByTime, byTime, overview],
  );
  const { length } = scale;
  const count = Math.max(1, overview.nextSeq);
  const least = (length * MIN_RECORDS) / count;
  const [chosen, setChosen] = useState<PlaceWindow | undefined>();
  const window = useMemo(
    () => (chosen === undefined ? { from: 0, to: length } : fitted(chosen, length)),
    [chosen, length],
  );
  const [hovered, setHovered] = useState<number | undefined>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const minimap = useRef<HTMLCanvasElement>(null);
  const lanes = useMemo(() => lanesOf({ overview, tried }), [overview, tried]);
  useDrawing({ canvas, minimap, lanes, range, picture: { overview, scale, window, selected, labels, tried } });
  const lookAt = (place: number): void => {
    if (chosen === undefined) return;
    const half = (chosen.to - chosen.from) / 2;
    setChosen(fitted({ from: place - half, to: place + half }, length));
  };
  // Moves the window if the selected record is outside it.
  useEffect(() => {
    if (selected === undefined || chosen === undefined) return;
    const place = scale.at(selected);
    if (place < chosen.from || place >= chosen.to) lookAt(place);
  }, [selected, chosen, scale]);

  const zoom = (factor: number, about: number): void => {
    const next = zoomed(window, factor, { about, least, length });
    setChosen(next.to - next.from >= length ? undefined : next);
  };
  const place = selected === undefined ? -1 : scale.at(selected);
  const about = place >= window.from && place < window.to ? place : (window.from + window.to) / 2;
  useZoomKeys((key) => (key === '0' ? setChosen(undefined) : zoom(key === '+' ? 0.5 : 2, about)));
  useWheel(canvas, (event, share) => {
    const at = window.from + share * (window.to - window.from);
    if (event.ctrlKey || event.metaKey) zoom(event.deltaY > 0 ? 1.25 : 0.8, at);
    else {
      const by = ((event.deltaX + event.deltaY) / 600) * (window.to - window.from);
      if (chosen !== undefined) setChosen(fitted({ from: window.from + by, to: window.to + by }, length));
    }
  });
  const dragMinimap = (event: PointerEvent<HTMLCanvasElement>): void => {
    if (event.buttons !== 1) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    const there = shareOf(event) * length;
    lookAt(there);
    onGo(Math.min(count - 1, scale.seqAt(there)));
  };
  const seqAt = (event: PointerEvent<HTMLCanvasElement>): number =>
    Math.min(count - 1, scale.seqAt(window.from + shareOf(event) * (window.to - window.from)));
  const markAt = (event: PointerEvent<HTMLCanvasElement>): number => {
    const { top, width } = event.currentTarget.getBoundingClientRect();
    const reach = (8 * (window.to - window.from)) / Math.max(1, width);
    return nearestMark({ overview, tried, lanes }, { seq: seqAt(event), y: event.clientY - top, reach, scale });
  };
  return (
    <section className="timeline" aria-label="Timeline">
      <div className="lane-names" aria-hidden="true">
        {Object.values(lanes.lanes).map(({ name, top, height }) => (
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
          ref={canvas}
          height={lanes.heightPx}
          style={{ height: lanes.heightPx }}
          role="img"
          aria-label={`${describe(overview)}${labels.size === 0 ? '' : ` ${countOf(labels.size, 'call')} labelled.`}`}
          onPointerDown={(event) => onGo(markAt(event))}
          onPointerMove={(event) => setHovered(seqAt(event))}
          onPointerLeave={() => setHovered(undefined)}
        />
      </div>
      <div className="tools">
        {KIND_STYLES.filter(({ kind }) => overview.kinds[kind]?.some((calls) => calls > 0)).map(({ name, colour }) => (
          // React's types do not include custom properties.
          <span key={name} className="key" style={{ ['--key' as string]: `var(${colour})` }}>
            {name}
          </span>
        ))}
        <span className="spring" />
        <span aria-hidden="true">{placeText(overview, hovered ?? selected)}</span>
        <span>
          {byTime === undefined ? null : (
            <button
              type="button"
              className="quiet"
              aria-pressed={isByTime}
              onClick={() => {
                setChosen(undefined);
                setByTime(!isByTime);
              }}
            >
              By time
            </button>
          )}
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

/** Returns the horizontal position of a pointer: 0 is the left edge, 1 the right edge. */
function shareOf(event: { readonly currentTarget: Element; readonly clientX: number }): number {
  const { left, width } = event.currentTarget.getBoundingClientRect();
  return Math.max(0, Math.min(1, (event.clientX - left) / Math.max(1, width)));
}

/** Returns the `seq` of the advice or pattern near the pointer, or else of the record at the pointer. */
function nearestMark(
  { lanes: { lanes }, overview, tried }: Pick<TimelinePicture, 'overview' | 'tried'> & { readonly lanes: Lanes },
  pointed: { readonly seq: number; readonly y: number; readonly reach: number; readonly scale: TimelineScale },
): number {
  const { reach, scale, seq, y } = pointed;
  const isIn = (name: LaneName): boolean => {
    const lane = lanes[name];
    return lane !== undefined && y >= lane.top && y < lane.top + lane.height + 4;
  };
  const marks = isIn('advice')
    ? overview.advice.map((mark) => mark.seq)
    : isIn('tried')
      ? (tried ?? []).map((mark) => mark.seq)
      : isIn('patterns')
        ? overview.patterns.map(({ flaggedSeq, fromSeq }) => flaggedSeq ?? fromSeq)
        : [];
  const distance = (mark: number): number => Math.abs(scale.at(mark) - scale.at(seq));
  return marks.filter((mark) => distance(mark) <= reach).sort((a, b) => distance(a) - distance(b))[0] ?? seq;
}

function placeText(overview: Overview, seq: number | undefined): string {
  if (seq === undefined) return '';
  const bucket = Math.min(overview.buckets - 1, Math.floor(seq / overview.seqsPerBucket));
  const time = clockText(overview.atMs[bucket] ?? 0);
  const call = (overview.firstCall[bucket] ?? 0) + ((overview.calls[bucket] ?? 0) > 0 ? 1 : 0);
  const soFar = (list: readonly number[]): number => list.slice(0, bucket + 1).reduce((sum, one) => sum + one, 0);
  const [costUsd, tokens] = [soFar(overview.costUsd), soFar(overview.tokens)];
  const parts = [
    time,
    ...(call === 0 ? [] : [`call ${countText(call)}`]),
    ...(tokens === 0 ? [] : [`${countText(tokens)} tokens so far, cached included`]),
    ...(costUsd === 0 ? [] : [costText(costUsd)]),
  ];
  return parts.join(' · ');
}

function describe({ patterns, advice, errors }: Overview): string {
  const failed = errors.reduce((sum, count) => sum + count, 0);
  const stuck = patterns.filter((pattern) => pattern.stuck).length;
  const unsaid = advice.filter(({ delivered }) => delivered !== true).length;
  return `Lanes of calls, errors, patterns and advice: ${countOf(failed, 'error')}, ${countOf(patterns.length, 'pattern')} of which ${stuck} say stuck, ${countOf(advice.length, 'piece')} of advice${unsaid === 0 ? '' : `, ${unsaid} not known as said`}. The lists beside the conversation hold the same.`;
}

function useDrawing(drawn: {
  readonly canvas: { readonly current: HTMLCanvasElement | null };
  readonly minimap: { readonly current: HTMLCanvasElement | null };
  readonly lanes: Lanes;
  readonly range: VisibleRange;
  readonly picture: Omit<TimelinePicture, 'visible'>;
}): void {
  const { canvas, lanes, minimap, picture, range } = drawn;
  const { heightPx } = lanes;
  useEffect(() => {
    let frame = 0;
    const draw = (): void => {
      frame = 0;
      const whole = { ...picture, visible: range.get() };
      const [below, above] = [prepare(canvas.current, heightPx), prepare(minimap.current, MINIMAP_HEIGHT)];
      if (below !== undefined) drawLanes(below, whole);
      if (above !== undefined) drawMinimap(above, whole);
    };
    const soon = (): void => {
      if (frame === 0) frame = requestAnimationFrame(draw);
    };
    draw();
    const sizes = new ResizeObserver(soon);
    if (canvas.current !== null) sizes.observe(canvas.current);
    const ends = [range.subscribe(soon), onThemeChange(soon)];
    return () => {
      cancelAnimationFrame(frame);
      sizes.disconnect();
      for (const end of ends) end();
    };
  }, [canvas, minimap, heightPx, range, ...Object.values(picture)]);
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
    // React's wheel listeners are passive, so they cannot prevent the browser from zooming.
    current?.addEventListener('wheel', listen, { passive: false });
    return () => current?.removeEventListener('wheel', listen);
  }, [canvas]);
}
