import type { Overview, PatternSpan } from '../server/api-shapes.ts';
import type { ToolKind } from '../../calls/tool-kind.ts';
import { TOOL_KINDS } from './tool-kinds.ts';

/** A part of a run, in `seq`s: from `from` up to, not with, `to`. */
export interface SeqWindow {
  readonly from: number;
  readonly to: number;
}

/** Fewest `seq`s that are shown across the whole width. */
const MIN_WINDOW = 40;

/** A column of a lane: what happened in some neighbouring buckets. */
export interface Column {
  readonly x: number;
  readonly width: number;
  readonly turns: number;
  readonly calls: number;
  readonly errors: number;
  readonly kinds: readonly (readonly [ToolKind, number])[];
}

/** Sums up the buckets of a window in columns of at least `minPx`. */
export function columnsOf(
  overview: Overview,
  window: SeqWindow,
  { widthPx, minPx }: { readonly widthPx: number; readonly minPx: number },
): readonly Column[] {
  const { seqsPerBucket } = overview;
  const pxPerBucket = (widthPx * seqsPerBucket) / (window.to - window.from);
  const group = Math.max(1, Math.ceil(minPx / pxPerBucket));
  const first = Math.floor(window.from / seqsPerBucket / group) * group;
  const last = Math.min(overview.buckets, Math.ceil(window.to / seqsPerBucket));
  const columns: Column[] = [];
  for (let bucket = first; bucket < last; bucket += group) {
    const sum = (list: readonly number[] | undefined): number => sumOf(list, bucket, bucket + group);
    const kinds: (readonly [ToolKind, number])[] = [];
    for (const { kind } of TOOL_KINDS) {
      const count = sum(overview.kinds[kind]);
      if (count > 0) kinds.push([kind, count]);
    }
    columns.push({
      x: ((bucket * seqsPerBucket - window.from) * widthPx) / (window.to - window.from),
      width: group * pxPerBucket,
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
  for (let at = from; at < to; at += 1) sum += list?.[at] ?? 0;
  return sum;
}

/** Patterns in rows in which none covers another, the ones that say stuck first; what has no room is in the last row. */
export function packPatterns(
  patterns: readonly PatternSpan[],
  rows: number,
): readonly { readonly span: PatternSpan; readonly row: number }[] {
  const ends: number[] = [];
  const ordered = [...patterns].sort((a, b) => Number(b.stuck) - Number(a.stuck) || a.fromSeq - b.fromSeq);
  const taken: SeqWindow[][] = Array.from({ length: rows }, () => []);
  return ordered.map((span) => {
    const window = { from: span.fromSeq, to: span.toSeq ?? Number.MAX_SAFE_INTEGER };
    const free = taken.findIndex((others) => others.every((other) => other.to < window.from || other.from > window.to));
    const row = free < 0 ? rows - 1 : free;
    taken[row]?.push(window);
    ends[row] = window.to;
    return { span, row };
  });
}

/** A window zoomed about one of its `seq`s; a `factor` below 1 shows less. */
export function zoomed(
  window: SeqWindow,
  factor: number,
  { about, count }: { about: number; count: number },
): SeqWindow {
  const size = Math.min(count, Math.max(Math.min(MIN_WINDOW, count), (window.to - window.from) * factor));
  const share = (about - window.from) / (window.to - window.from);
  return fitted({ from: about - share * size, to: about - share * size + size }, count);
}

/** A window moved so that it lies within the run. */
export function fitted({ from, to }: SeqWindow, count: number): SeqWindow {
  const size = Math.min(to - from, count);
  const start = Math.max(0, Math.min(from, count - size));
  return { from: start, to: start + size };
}
