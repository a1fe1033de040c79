import type { Overview, PatternSpan } from '../server/api-shapes.ts';
import type { ToolKind } from '../../calls/tool-kind.ts';
import type { TimelineScale } from './timeline-scale.ts';
import { KIND_STYLES } from './tool-kinds.ts';

/** A part of a run, in units of the timeline scale: from `from` to before `to`. */
export interface PlaceWindow {
  readonly from: number;
  readonly to: number;
}

/** A column of a lane. It holds the sums of some neighbouring buckets. */
export interface Column {
  readonly x: number;
  readonly width: number;
  /** The number of the column's first call. */
  readonly call: number;
  readonly turns: number;
  readonly calls: number;
  readonly errors: number;
  readonly kinds: readonly (readonly [ToolKind, number])[];
}

/** Sums the buckets of a window into columns of at least `minPx`. The column boundaries do not depend on the window. */
export function columnsOf(
  overview: Overview,
  window: PlaceWindow,
  { widthPx, minPx, scale }: { readonly widthPx: number; readonly minPx: number; readonly scale: TimelineScale },
): readonly Column[] {
  const { buckets, seqsPerBucket } = overview;
  const pxPerPlace = widthPx / (window.to - window.from);
  const minPlaces = minPx / pxPerPlace;
  const places = Array.from({ length: buckets + 1 }, (_, bucket) => scale.placeOf(bucket * seqsPerBucket));
  const distance = (from: number, to: number): number => (places[to] ?? 0) - (places[from] ?? 0);
  const columns: Column[] = [];
  for (let bucket = 0, end = 0; bucket < buckets; bucket = end) {
    end = bucket + 1;
    while (end < buckets && distance(bucket, end) < minPlaces) end += 1;
    // The remainder at the end of the run is added to the last column.
    if (distance(end, buckets) < minPlaces) end = buckets;
    const x = ((places[bucket] ?? 0) - window.from) * pxPerPlace;
    const width = distance(bucket, end) * pxPerPlace;
    if (x + width < 0 || x > widthPx) continue;
    const sum = (list: readonly number[] | undefined): number => sumOf(list, bucket, end);
    const kinds = KIND_STYLES.flatMap(({ kind }): Column['kinds'] => {
      const count = sum(overview.kinds[kind]);
      return count > 0 ? [[kind, count]] : [];
    });
    columns.push({
      x,
      width,
      call: (overview.firstCall[bucket] ?? 0) + 1,
      turns: sum(overview.turns),
      calls: sum(overview.calls),
      errors: sum(overview.errors),
      kinds,
    });
  }
  return columns;
}

function sumOf(list: readonly number[] | undefined, from: number, to: number): number {
  let sum = 0;
  for (let bucket = from; bucket < to; bucket += 1) sum += list?.[bucket] ?? 0;
  return sum;
}

/** Assigns patterns to rows without overlap. Stuck patterns come first. Patterns that do not fit are put in the last row. */
export function packPatterns(
  patterns: readonly PatternSpan[],
  rows: number,
): readonly { readonly span: PatternSpan; readonly row: number }[] {
  const ordered = [...patterns].sort((a, b) => Number(b.stuck) - Number(a.stuck) || a.fromSeq - b.fromSeq);
  const windowsByRow: PlaceWindow[][] = Array.from({ length: rows }, () => []);
  return ordered.map((span) => {
    const window = { from: span.fromSeq, to: span.toSeq ?? Number.MAX_SAFE_INTEGER };
    const freeRow = windowsByRow.findIndex((others) =>
      others.every((other) => other.to < window.from || other.from > window.to),
    );
    const row = freeRow < 0 ? rows - 1 : freeRow;
    windowsByRow[row]?.push(window);
    return { span, row };
  });
}

/** Zooms a window around a position. A `factor` below 1 zooms in, down to a length of `minLength`. */
export function zoomWindow(
  window: PlaceWindow,
  factor: number,
  { centre, minLength, length }: { readonly centre: number; readonly minLength: number; readonly length: number },
): PlaceWindow {
  const nextLength = Math.min(length, Math.max(Math.min(minLength, length), (window.to - window.from) * factor));
  const share = (centre - window.from) / (window.to - window.from);
  return fitWindow({ from: centre - share * nextLength, to: centre - share * nextLength + nextLength }, length);
}

/** Moves a window so that it is inside the run. */
export function fitWindow({ from, to }: PlaceWindow, length: number): PlaceWindow {
  const windowLength = Math.min(to - from, length);
  const start = Math.max(0, Math.min(from, length - windowLength));
  return { from: start, to: start + windowLength };
}
