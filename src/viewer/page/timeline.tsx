import { useEffect, useMemo, useRef, useState, type PointerEvent, type ReactElement } from 'react';

import type { Overview } from '../server/api-shapes.ts';
import type { TriedAdvice } from '../server/trial-shapes.ts';
import { drawMinimap, MINIMAP_HEIGHT } from './draw-minimap.ts';
import { drawLanes, lanesOf, type LaneName, type Lanes, type TimelinePicture } from './draw-timeline.ts';
import { prepareCanvas } from './prepare-canvas.ts';
import { isTyping } from './is-typing.ts';
import { countOf, countText } from '../../base/number-text.ts';
import { clockText, costText } from './number-text.ts';
import { fitWindow, zoomWindow, type PlaceWindow } from './timeline-layout.ts';
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
  const scaleByTime = useMemo(() => timeScale(overview), [overview]);
  const scale = useMemo(
    () => (isByTime && scaleByTime !== undefined ? scaleByTime : recordScale(overview)),
    [isByTime, scaleByTime, overview],
  );
  const { length } = scale;
  const count = Math.max(1, overview.nextSeq);
  const minLength = (length * MIN_RECORDS) / count;
  const [chosenWindow, setChosenWindow] = useState<PlaceWindow | undefined>();
  const window = useMemo(
    () => (chosenWindow === undefined ? { from: 0, to: length } : fitWindow(chosenWindow, length)),
    [chosenWindow, length],
  );
  const [hovered, setHovered] = useState<number | undefined>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const minimap = useRef<HTMLCanvasElement>(null);
  const lanes = useMemo(() => lanesOf({ overview, tried }), [overview, tried]);
  useDrawing({ canvas, minimap, lanes, range, picture: { overview, scale, window, selected, labels, tried } });
  const centreOn = (place: number): void => {
    if (chosenWindow === undefined) return;
    const half = (chosenWindow.to - chosenWindow.from) / 2;
    setChosenWindow(fitWindow({ from: place - half, to: place + half }, length));
  };
  // Moves the window if the selected record is outside it.
  useEffect(() => {
    if (selected === undefined || chosenWindow === undefined) return;
    const place = scale.placeOf(selected);
    if (place < chosenWindow.from || place >= chosenWindow.to) centreOn(place);
  }, [selected, chosenWindow, scale]);

  const zoomAround = (factor: number, centre: number): void => {
    const nextWindow = zoomWindow(window, factor, { centre, minLength, length });
    setChosenWindow(nextWindow.to - nextWindow.from >= length ? undefined : nextWindow);
  };
  const selectedPlace = selected === undefined ? -1 : scale.placeOf(selected);
  const zoomCentre =
    selectedPlace >= window.from && selectedPlace < window.to ? selectedPlace : (window.from + window.to) / 2;
  useZoomKeys((key) => (key === '0' ? setChosenWindow(undefined) : zoomAround(key === '+' ? 0.5 : 2, zoomCentre)));
  useWheel(canvas, (event, share) => {
    const place = window.from + share * (window.to - window.from);
    if (event.ctrlKey || event.metaKey) zoomAround(event.deltaY > 0 ? 1.25 : 0.8, place);
    else {
      const distance = ((event.deltaX + event.deltaY) / 600) * (window.to - window.from);
      if (chosenWindow !== undefined)
        setChosenWindow(fitWindow({ from: window.from + distance, to: window.to + distance }, length));
    }
  });
  const dragMinimap = (event: PointerEvent<HTMLCanvasElement>): void => {
    if (event.buttons !== 1) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    const place = shareOf(event) * length;
    centreOn(place);
    onGo(Math.min(count - 1, scale.seqAt(place)));
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
          aria-label={`${describeTimeline(overview)}${labels.size === 0 ? '' : ` ${countOf(labels.size, 'call')} labelled.`}`}
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
          {scaleByTime === undefined ? null : (
            <button
              type="button"
              className="quiet"
              aria-pressed={isByTime}
              onClick={() => {
                setChosenWindow(undefined);
                setByTime(!isByTime);
              }}
            >
              By time
            </button>
          )}
          <button type="button" className="quiet" aria-label="Zoom in" onClick={() => zoomAround(0.5, zoomCentre)}>
            +
          </button>
          <button type="button" className="quiet" aria-label="Zoom out" onClick={() => zoomAround(2, zoomCentre)}>
            −
          </button>
          <button
            type="button"
            className="quiet"
            disabled={chosenWindow === undefined}
            onClick={() => setChosenWindow(undefined)}
          >
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
  pointer: { readonly seq: number; readonly y: number; readonly reach: number; readonly scale: TimelineScale },
): number {
  const { reach, scale, seq, y } = pointer;
  const isInLane = (name: LaneName): boolean => {
    const lane = lanes[name];
    return lane !== undefined && y >= lane.top && y < lane.top + lane.height + 4;
  };
  const marks = isInLane('advice')
    ? overview.advice.map((mark) => mark.seq)
    : isInLane('tried')
      ? (tried ?? []).map((mark) => mark.seq)
      : isInLane('patterns')
        ? overview.patterns.map(({ flaggedSeq, fromSeq }) => flaggedSeq ?? fromSeq)
        : [];
  const distance = (mark: number): number => Math.abs(scale.placeOf(mark) - scale.placeOf(seq));
  return marks.filter((mark) => distance(mark) <= reach).sort((a, b) => distance(a) - distance(b))[0] ?? seq;
}

function placeText(overview: Overview, seq: number | undefined): string {
  if (seq === undefined) return '';
  const bucket = Math.min(overview.buckets - 1, Math.floor(seq / overview.seqsPerBucket));
  const time = clockText(overview.atMs[bucket] ?? 0);
  const call = (overview.firstCall[bucket] ?? 0) + ((overview.calls[bucket] ?? 0) > 0 ? 1 : 0);
  const sumUntil = (list: readonly number[]): number =>
    list.slice(0, bucket + 1).reduce((sum, value) => sum + value, 0);
  const [costUsd, tokens] = [sumUntil(overview.costUsd), sumUntil(overview.tokens)];
  const parts = [
    time,
    ...(call === 0 ? [] : [`call ${countText(call)}`]),
    ...(tokens === 0 ? [] : [`${countText(tokens)} tokens so far, cached included`]),
    ...(costUsd === 0 ? [] : [costText(costUsd)]),
  ];
  return parts.join(' · ');
}

function describeTimeline({ patterns, advice, errors }: Overview): string {
  const errorCount = errors.reduce((sum, count) => sum + count, 0);
  const stuckCount = patterns.filter((pattern) => pattern.stuck).length;
  const undeliveredCount = advice.filter(({ delivered }) => delivered !== true).length;
  return `Lanes of calls, errors, patterns and advice: ${countOf(errorCount, 'error')}, ${countOf(patterns.length, 'pattern')} of which ${stuckCount} say stuck, ${countOf(advice.length, 'piece')} of advice${undeliveredCount === 0 ? '' : `, ${undeliveredCount} not known as said`}. The lists beside the conversation hold the same.`;
}

function useDrawing(drawing: {
  readonly canvas: { readonly current: HTMLCanvasElement | null };
  readonly minimap: { readonly current: HTMLCanvasElement | null };
  readonly lanes: Lanes;
  readonly range: VisibleRange;
  readonly picture: Omit<TimelinePicture, 'visible'>;
}): void {
  const { canvas, lanes, minimap, picture, range } = drawing;
  const { heightPx } = lanes;
  useEffect(() => {
    let frame = 0;
    const draw = (): void => {
      frame = 0;
      const fullPicture = { ...picture, visible: range.get() };
      const [lanesCanvas, minimapCanvas] = [
        prepareCanvas(canvas.current, heightPx),
        prepareCanvas(minimap.current, MINIMAP_HEIGHT),
      ];
      if (lanesCanvas !== undefined) drawLanes(lanesCanvas, fullPicture);
      if (minimapCanvas !== undefined) drawMinimap(minimapCanvas, fullPicture);
    };
    const drawSoon = (): void => {
      if (frame === 0) frame = requestAnimationFrame(draw);
    };
    draw();
    const resizeObserver = new ResizeObserver(drawSoon);
    if (canvas.current !== null) resizeObserver.observe(canvas.current);
    const unsubscribers = [range.subscribe(drawSoon), onThemeChange(drawSoon)];
    return () => {
      cancelAnimationFrame(frame);
      resizeObserver.disconnect();
      for (const unsubscribe of unsubscribers) unsubscribe();
    };
  }, [canvas, minimap, heightPx, range, ...Object.values(picture)]);
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
